"""Methods that drop or weight raters: SIMPLE and boundary SIMPLE."""
