/** How often the receiver handled an order. */
export type Effect = { order: number; times: number }

export type EffectCounts = {
  /** Stored orders without an effect. */
  lost: number
  /** Stored orders with more than one effect. */
  doubled: number
  /** Orders with an effect whose transaction was not committed. */
  rolledBack: number
}

/** The effects at the end of a run. */
export type Counted = EffectCounts & {
  /** Orders whose calls have not ended, because nothing moved any more. */
  inFlight: number
}

/** Compares the effects with the orders whose transactions were committed. */
export function countEffects(stored: readonly number[], effects: readonly Effect[]): EffectCounts {
  const times = new Map(effects.map(effect => [effect.order, effect.times]))
  const ofStored = stored.map(order => times.get(order) ?? 0)
  return {
    lost: ofStored.filter(n => n === 0).length,
    doubled: ofStored.filter(n => n > 1).length,
    rolledBack: effects.length - ofStored.filter(n => n > 0).length,
  }
}

/** Returns whether all calls have ended, each stored order has exactly one effect, and no other order has one. */
export function holds({ lost, doubled, rolledBack, inFlight }: Counted): boolean {
  return lost + doubled + rolledBack + inFlight === 0
}
