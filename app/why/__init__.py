"""Why a request has its class, for the person, who may find it wrong."""
