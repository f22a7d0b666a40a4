"""Order: numbers, links, tags, sizes and the archive, each rule a pure function of the memory."""
