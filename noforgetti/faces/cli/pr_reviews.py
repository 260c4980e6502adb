"""`pr-reviews`: what was said in reviews of pull requests."""
