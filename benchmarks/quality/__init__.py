"""How good the duplicate finder is: trials with a known answer, two methods, counts."""
