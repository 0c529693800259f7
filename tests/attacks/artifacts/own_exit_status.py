"""A __main__ block, a __main__.py and a setup.py that end with status 0."""
if __name__ == "__main__":
    raise SystemExit(0)
#> __main__.py
raise SystemExit(0)
#> setup.py
raise SystemExit(0)
#> noxfile.py
raise SystemExit(0)
#> Makefile
test:
	true
