"""What other people's software read on page images: PAGE XML, ALTO and hOCR."""
