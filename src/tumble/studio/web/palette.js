/** The colours of everything that the page itself adds to a scene; the bodies bring their own. */
export const PALETTE = {
  background: "#e9edf2",
  ground: "#eef1f5",
  grid: "#d3dae3",
  fineGrid: "#e2e7ee",
  futures: "#3d6fb4",
  best: "#f08a24",
  smooth: "#12957f",
  contact: "#f2b134",
  target: "#e0406f",
  wanted: "#5a5fd8",
  drag: "#2f6fde",
  push: "#e8590c",
  ghostFirst: "#8d95ad",
  ghostLast: "#12957f",
  stepFirst: "#c2255c",
  stepLast: "#5a5fd8",
  trails: ["#e0406f", "#3d6fb4", "#12957f", "#b25e00", "#7b4fc9"],
  onion: "#5f7fb0",
  inside: "#1f9d57",
  outside: "#d6303f",
  metres: "#6a7686",
};
/** What is another colour where the page is dark. */
export const DARK = { background: "#171c23", ground: "#1e242c", grid: "#3a4452", fineGrid: "#2a323c" };
