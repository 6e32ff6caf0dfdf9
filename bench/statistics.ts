/** Median and p95 of the samples of one run, in the unit of the samples. */
export interface Figure {
  readonly median: number;
  readonly p95: number;
  readonly count: number;
}

/** Throws when there are none: a measurement that silently measured nothing would look like a fast one. */
export function summarize(samples: readonly number[]): Figure {
  return { median: quantile(samples, 0.5), p95: quantile(samples, 0.95), count: samples.length };
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

function quantile(samples: readonly number[], fraction: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  // Between the two neighbours, so that an even count has a middle.
  const place = (sorted.length - 1) * fraction;
  const low = sorted[Math.floor(place)];
  const high = sorted[Math.ceil(place)];
  if (low === undefined || high === undefined) throw new Error('nothing was measured');
  return low + (high - low) * (place - Math.floor(place));
}

/** The ways of one round in turn, another one first each time, so that noise and warmth hit all alike. */
export async function inRounds(count: number, ways: readonly (() => Promise<void>)[]): Promise<void> {
  for (let round = 0; round < count; round++) {
    for (let place = 0; place < ways.length; place++) await ways[(round + place) % ways.length]?.();
  }
}
