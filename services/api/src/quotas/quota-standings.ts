import type { Usage } from '@belfry/db'

// Quotas are looked at on every creation, and may be this late in refusing one.
const rememberedMs = 2_000
const mostRemembered = 10_000

/** What organizations have used, as read within the last two seconds. */
export type QuotaStandings = {
  of(organizationId: string): Promise<Usage | null>
  /** Has the next question read anew, because a tier has changed. */
  forget(organizationId: string): void
}

export function createQuotaStandings(
  read: (organizationId: string) => Promise<Usage | null>,
  now: () => number = () => performance.now(),
): QuotaStandings {
  const known = new Map<string, { usage: Promise<Usage | null>; until: number }>()
  return {
    of(organizationId) {
      const remembered = known.get(organizationId)
      if (remembered && remembered.until > now()) return remembered.usage
      if (known.size >= mostRemembered) known.clear()
      const usage = read(organizationId)
      const entry = { usage, until: now() + rememberedMs }
      known.set(organizationId, entry)
      // What could not be read is asked again by the next caller.
      usage.catch(() => known.get(organizationId) === entry && known.delete(organizationId))
      return usage
    },
    forget(organizationId) {
      known.delete(organizationId)
    },
  }
}
