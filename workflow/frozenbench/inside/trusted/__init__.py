"""What lies on the module path of the trusted test process under `split`: frozenbench_candidate alone."""
