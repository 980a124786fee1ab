"""Page images: finding the image of a page (`find`, `imglist`), loading it, and correcting its light, its negative
parts and its size before it is measured."""
