"""The images that containers start from: which are missing, and building them, from a registry or a Debian mirror."""
