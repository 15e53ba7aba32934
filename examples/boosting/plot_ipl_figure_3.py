"""
Figure 3: thirteen points on a wall
===================================

**The paper** (Li et al., 2018, section V-E-1) draws how the RGB-D Face data were taken:
each of 31 people looks at thirteen points on a wall, three times, with the Kinect at
point 7. The points on the vertical line are class 1, those on the horizontal line class
2, those off both lines class 3. The color image gives X and the depth image X*.

**Here** the wall is laid out as these classes ask for, and the heads are rendered: an
ellipsoid with a nose, eyes and a mouth, turned part of the way to the point. The gray
image has its light from anywhere (which depth does not see); both have noise. The
tables and figures about RGB-D Face use 16 principal components of each image.

**Measured:** as many images as in the paper, 31 x 3 x 4 in each class.
"""

import matplotlib.pyplot as plt
import numpy as np
from ipl_protocol import CLASSES, POINTS, face_images

images = face_images()
colours = {1: "#0072B2", 2: "#009E73", 3: "#000000"}
figure = plt.figure(figsize=(11, 4.6), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[1, 1.5])

ax = left.subplots()
group_of = {point: group for group, points in CLASSES.items() for point in points}
for point, (x, y) in POINTS.items():
    group = group_of.get(point)
    ax.plot(x, y, "o", color=colours.get(group, "#D55E00"), markersize=22)
    ax.annotate(
        str(point), (x, y), ha="center", va="center", color="white", fontweight="bold"
    )
ax.annotate("camera", (0, 0), (0.35, -0.42), color="#D55E00")
ax.set(xlim=(-2.6, 2.6), ylim=(-2.6, 2.6), aspect="equal", xticks=[], yticks=[])
ax.set_title("The wall, as a person sees it", loc="left", fontweight="bold")

panels = right.subplots(4, 6)
for column, point in enumerate((1, 13, 5, 9, 3, 11)):
    for line, person in enumerate((3, 8)):
        rows = np.flatnonzero(images.point == point)
        row = rows[3 * person]
        panels[2 * line, column].imshow(images.grey[row], cmap="gray")
        panels[2 * line + 1, column].imshow(images.depth[row], cmap="cividis")
    panels[0, column].set_title(str(point), color=colours[group_of[point]])
for panel in panels.flat:
    panel.set(xticks=[], yticks=[])
for line, name in enumerate(["grey (X)", "depth (X*)"] * 2):
    panels[line, 0].set_ylabel(name)
for group, points in CLASSES.items():
    print(f"class {group}: points {points}, {np.sum(images.target == group)} images")
plt.show()
