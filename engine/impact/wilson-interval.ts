// Bounds of a share in all, from the share in a random sample.

/** The quantile of the normal distribution for 95 %. */
const z = 1.959963984540054

/** The 95 % interval of Wilson (1927) for the share of which `count` of `total` is a random sample. */
export function wilsonInterval(count: number, total: number): readonly [low: number, high: number] {
  if (total === 0) return [0, 1]
  const share = count / total
  const centre = share + z ** 2 / (2 * total)
  const half = z * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2))
  const scale = 1 + z ** 2 / total
  return [count === 0 ? 0 : (centre - half) / scale, count === total ? 1 : (centre + half) / scale]
}
