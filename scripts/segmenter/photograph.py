"""What paper, print, time and a camera make of drawn pages, many at once: labels move along with the ink."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from proof.layout.labels import Label

LEAST_LEGIBLE = 0.6
"""Correlation of a picture's darkness with the ink of its text, where this can be seen."""


class Photographer:
    """Makes pictures of drawn pages on one device."""

    def __init__(self, device: torch.device, seed: int) -> None:
        self.device = device
        self.random = torch.Generator(device).manual_seed(seed)
        frequency = torch.arange(8, dtype=torch.float32)
        waves = torch.cos((2 * frequency[None] + 1) * frequency[:, None] * math.pi / 16) * 0.5
        waves[0] /= math.sqrt(2)
        self.waves = waves.to(device)
        steps = torch.arange(8, dtype=torch.float32)
        self.coarseness = (1 + 1.6 * (steps[:, None] + steps[None])).to(device)

    def uniform(self, count: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """n x 1 x 1 x 1 numbers at random."""
        return low + (high - low) * torch.rand(count, 1, 1, 1, generator=self.random, device=self.device)

    def chance(self, count: int, share: float) -> Tensor:
        """n x 1 x 1 x 1, 1.0 in this share of the pages and 0.0 in the others."""
        return (self.uniform(count) < share).float()

    def smooth(self, count: int, rows: int, columns: int, size: tuple[int, int]) -> Tensor:
        """Even noise from 0 to 1 that varies over so many rows and columns."""
        coarse = torch.rand(count, 1, rows, columns, generator=self.random, device=self.device)
        return functional.interpolate(coarse, size, mode="bilinear", align_corners=False)

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.random, device=self.device)

    def __call__(self, ink: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Pictures (n x 1 x height x width, 0 black to 1 white) and labels (uint8, n x height / 2 x width / 2) of ink
        and labels (uint8, n x height x width, ink 255)."""
        inked, labels = self._moved(ink, labels)
        image = self._printed(inked)
        image = self._lit(image)
        image = self._legible(self._recorded(image), inked, labels)
        count, height, width = labels.shape
        parts = labels.reshape(count, height // 2, 2, width // 2, 2)
        halved = parts[:, :, 0, :, 0] | parts[:, :, 0, :, 1] | parts[:, :, 1, :, 0] | parts[:, :, 1, :, 1]
        return image, halved

    def _legible(self, image: Tensor, ink: Tensor, labels: Tensor) -> Tensor:
        """The pictures, a plain one in place of each on which no text can be seen: it must not be learned from."""
        text = (labels[:, None] & int(Label.TEXT) > 0).float()
        share = text / (text.sum((1, 2, 3), keepdim=True) + 1)
        paper = image - (image * share).sum((1, 2, 3), keepdim=True)
        strokes = ink - (ink * share).sum((1, 2, 3), keepdim=True)
        spreads = ((paper**2 * share).sum((1, 2, 3)) * (strokes**2 * share).sum((1, 2, 3))).sqrt()
        alike = -(paper * strokes * share).sum((1, 2, 3)) / (spreads + 1e-4)
        lost = (alike < LEAST_LEGIBLE) & (text.sum((1, 2, 3)) > 0)
        return torch.where(lost[:, None, None, None], 1 - 0.8 * ink, image)

    def _moved(self, ink: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The pages turned, enlarged, seen at an angle, curved, mirrored never."""
        count, height, width = ink.shape
        degrees = self.normal(count) * torch.where(self.chance(count, 0.8).flatten() > 0, 0.5, 2.0)
        turn = torch.deg2rad(degrees)
        zoom = (
            1
            + 0.05 * self.normal(count).clamp(-2, 2)
            - 0.1 * self.chance(count, 0.15).flatten() * self.uniform(count).flatten()
        )
        stretch = 1 + 0.05 * self.normal(count).clamp(-2, 2)
        y, x = torch.meshgrid(
            torch.linspace(-1, 1, height, device=self.device),
            torch.linspace(-1, 1, width, device=self.device),
            indexing="ij",
        )
        ratio = width / height
        sin, cos = (turn.sin()[:, None, None], turn.cos()[:, None, None])
        u, v = x[None], y[None]
        tilt = 0.03 * self.normal(count, 2) * (self.chance(count, 0.3).reshape(count, 1))
        depth = 1 + tilt[:, 0, None, None] * u + tilt[:, 1, None, None] * v
        at_x = (cos * u - sin * v / ratio) * (zoom * stretch)[:, None, None] / depth
        at_y = (sin * u * ratio + cos * v) * (zoom / stretch)[:, None, None] / depth
        shift = 0.02 * self.normal(count, 2)
        bent = (self.chance(count, 0.3) * 0.008)[:, 0]
        waves = self.normal(count, 2) * 2
        phases = self.normal(count, 2) * 3
        at_x = at_x + shift[:, 0, None, None] + bent * torch.sin(v * waves[:, 0, None, None] + phases[:, 0, None, None])
        at_y = (
            at_y
            + shift[:, 1, None, None]
            + 1.5 * bent * torch.sin(u * waves[:, 1, None, None] + phases[:, 1, None, None])
        )
        elastic = self.chance(count, 0.25)[:, 0] * 0.006
        field = functional.interpolate(
            self.normal(count, 2, 6, 6), (height, width), mode="bicubic", align_corners=False
        )
        grid = torch.stack([at_x + elastic * field[:, 0], at_y + elastic * field[:, 1]], -1)
        ground = (self.chance(count, 0.1) * self.uniform(count)).clamp(0, 1)
        # beyond the page lies white, or a ground as dark as this
        inked = functional.grid_sample(ink[:, None].float() / 255 - ground, grid, align_corners=False) + ground
        where = functional.grid_sample(labels[:, None].float(), grid, mode="nearest", align_corners=False)
        return inked, where[:, 0].to(torch.uint8)

    def _blurred(self, image: Tensor, sigma: Tensor) -> Tensor:
        """Each page blurred by its own sigma (n x 1 x 1 x 1, px)."""
        reach = torch.arange(-4, 5, device=self.device, dtype=torch.float32)
        kernel = torch.exp(-(reach[None] ** 2) / (2 * sigma.reshape(-1, 1) ** 2 + 1e-4))
        kernel = kernel / kernel.sum(1, keepdim=True)
        count = image.shape[0]
        own = image.transpose(0, 1)
        own = functional.conv2d(own, kernel.reshape(count, 1, 9, 1), padding=(4, 0), groups=count)
        own = functional.conv2d(own, kernel.reshape(count, 1, 1, 9), padding=(0, 4), groups=count)
        return own.transpose(0, 1)

    def _printed(self, ink: Tensor) -> Tensor:
        """Ink on paper: thick or thin, blurred, worn, faded in places, the other side showing through."""
        count, _, height, width = ink.shape
        size = (height, width)
        thick = functional.max_pool2d(ink, 3, 1, 1)
        thin = -functional.max_pool2d(-ink, 3, 1, 1)
        gain = self.normal(count, 1, 1, 1) * 0.45
        gain = (gain + self.chance(count, 0.15) * (self.smooth(count, 3, 3, size) - 0.5)).clamp(-0.75, 1)
        ink = torch.where(gain > 0, ink + gain * (thick - ink), ink - gain * (thin - ink))
        # ink that did not take: in specks, in larger patches
        grain = self.smooth(count, height // 3, width // 3, size) * self.smooth(count, 12, 12, size)
        ink = ink * (
            1
            - self.chance(count, 0.35) * self.uniform(count, 0.3, 1.4) * (grain > self.uniform(count, 0.3, 0.6)).float()
        ).clamp(0, 1)
        worn = self.smooth(count, 9, 9, size)
        ink = ink * (1 - self.chance(count, 0.3) * self.uniform(count, 0.2, 1.1) * (worn - 0.3).clamp(0, 1)).clamp(0, 1)
        ink = torch.where(self.chance(count, 0.7) > 0, self._blurred(ink, self.uniform(count, 0.2, 1.2)), ink)
        contrast = self.uniform(count, 0.9, 2.5)
        ink = ((ink - self.uniform(count, 0, 0.15)) * contrast).clamp(0, 1)
        through = self._blurred(ink.roll(1, 0).flip(3), self.uniform(count, 0.7, 2.0))
        ink = torch.maximum(ink, through * self.chance(count, 0.2) * self.uniform(count, 0.05, 0.4))
        paper = self.uniform(count, 0.45, 1.0) ** 0.6
        texture = 1 - self.chance(count, 0.4) * self.uniform(count, 0, 0.15) * self.smooth(
            count, height // 2, width // 2, size
        )
        fibres = 1 - self.chance(count, 0.15) * self.uniform(count, 0, 0.12) * (
            torch.sin(torch.arange(width, device=self.device) * self.uniform(count, 0.2, 1.2))
        )
        stains = self.smooth(count, 7, 7, size) ** 3 * self.chance(count, 0.25) * self.uniform(count, 0.1, 0.7)
        return paper * texture * fibres * (1 - stains) * (1 - ink * self.uniform(count, 0.6, 1.0))

    def _lit(self, image: Tensor) -> Tensor:
        """Even light, or less to one side, or the shade of a gutter."""
        count, _, height, width = image.shape
        dim = self.chance(count, 0.35) * self.uniform(count, 0, 0.5)
        image = image * (1 - dim * self.smooth(count, 3, 3, (height, width)))
        at = torch.where(self.chance(count, 0.5) > 0, width / 2, self.chance(count, 0.5) * width)
        across = (torch.arange(width, device=self.device) - at).abs() / (self.uniform(count, 0.01, 0.07) * width)
        shade = self.chance(count, 0.12) * self.uniform(count, 0.2, 0.9)
        image = image * (1 - shade * torch.exp(-across))
        # as where light was evened out: paper is white
        even = self.chance(count, 0.5)
        bright = functional.avg_pool2d(image, 8).flatten(1).quantile(0.85, dim=1).reshape(count, 1, 1, 1)
        return torch.where(even > 0, (image / (bright + 1e-3)).clamp(0, 1), image)

    def _recorded(self, image: Tensor) -> Tensor:
        """Noise, coarse compression, black and white alone, specks, another contrast."""
        count = image.shape[0]
        image = image + self.normal(*image.shape) * self.chance(count, 0.6) * self.uniform(count, 0, 0.09)
        image = image.clamp(0, 1)
        image = torch.where(self.chance(count, 0.2) > 0, self._compressed(image), image)
        sharp = image - self._blurred(image, self.uniform(count, 0.7, 1.5))
        image = (image + sharp * self.chance(count, 0.2) * self.uniform(count, 0.3, 2.0)).clamp(0, 1)
        image = image ** torch.exp(self.normal(count, 1, 1, 1) * 0.3)
        limit = self.uniform(count, 0.35, 0.75) * image.flatten(1).mean(1).reshape(count, 1, 1, 1).clamp(0.5, 1)
        hard = ((image - limit) * self.uniform(count, 8, 60) + 0.5).clamp(0, 1)
        image = torch.where(self.chance(count, 0.3) > 0, hard, image)
        dust = torch.rand(image.shape, generator=self.random, device=self.device)
        share = self.chance(count, 0.15) * self.uniform(count, 0, 0.003)
        image = torch.where(dust < share, (dust * 1e5 % 1.0), image)
        image = self._specked(image)
        soft = self.chance(count, 0.12) * self.uniform(count, 0.4, 1.2)
        image = torch.where(soft > 0, self._blurred(image, soft.clamp(min=0.05)), image)
        low, high = (
            self.chance(count, 0.2) * self.uniform(count, 0, 0.3),
            1 - self.chance(count, 0.2) * self.uniform(count, 0, 0.3),
        )
        return low + (high - low) * image

    def _specked(self, image: Tensor) -> Tensor:
        """Black and white specks of two or three pixels, as on a microfilm."""
        count = image.shape[0]
        share = self.chance(count, 0.15) * self.uniform(count, 0, 0.002)
        for tone in (0.0, 1.0):
            specks = (torch.rand(image.shape, generator=self.random, device=self.device) < share).float()
            large = functional.max_pool2d(specks, 3, 1, 1)
            broad = functional.max_pool2d(functional.pad(specks, (0, 1, 0, 1)), 2, 1)
            specks = torch.where(self.chance(count, 0.4) > 0, large, broad)
            image = image + (tone - image) * specks * self.uniform(count, 0.6, 1.0)
        return image

    def _compressed(self, image: Tensor) -> Tensor:
        """Through a discrete cosine transform of 8 x 8 pixels with coarse steps, as JPEG does."""
        count, _, height, width = image.shape
        parts = image.reshape(count, height // 8, 8, width // 8, 8).permute(0, 1, 3, 2, 4) - 0.5
        spectrum = self.waves @ parts @ self.waves.T
        step = self.coarseness * (self.uniform(count, 0.004, 0.06)[..., None])
        spectrum = (spectrum / step).round() * step
        back = self.waves.T @ spectrum @ self.waves + 0.5
        return back.permute(0, 1, 3, 2, 4).reshape(count, 1, height, width).clamp(0, 1)
