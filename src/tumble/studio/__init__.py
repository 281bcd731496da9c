"""The studio: a character in the browser, live."""
