"""The stops of a session, readable also later. Pure."""
