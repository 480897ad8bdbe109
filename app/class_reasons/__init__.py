"""The reasons for a request's class, for the person, who may find it wrong."""
