"""Why a request has its class, in words; what was foreseen of it; what a person holds for misjudged."""
