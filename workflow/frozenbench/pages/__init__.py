"""The results page: built once as blocks, written as README.md, index.html and a report's start."""
