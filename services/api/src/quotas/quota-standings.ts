import type { Db, Usage } from '@belfry/db'

// Quotas are looked at on every creation, and may be this late in refusing one.
const rememberedMs = 2_000
const mostRemembered = 10_000

/** What organizations have used, as read within the last two seconds. */
export type QuotaStandings = {
  of(organizationId: string): Promise<Usage | null>
  /** Has the next question read anew, because a tier has changed. */
  forget(organizationId: string): void
  /** The same for whoever holds a connection: they read with it, and wait for nobody who may need one. */
  through(db: Db): QuotaStandings
}

type Read = (organizationId: string, db?: Db) => Promise<Usage | null>
type Known = { usage: Promise<Usage | null>; until: number; isRead: boolean }

export function createQuotaStandings(read: Read, now: () => number = () => performance.now()): QuotaStandings {
  const known = new Map<string, Known>()

  function of(organizationId: string, db?: Db): Promise<Usage | null> {
    const remembered = known.get(organizationId)
    if (remembered && remembered.until > now() && (remembered.isRead || !db)) return remembered.usage
    if (known.size >= mostRemembered) known.clear()
    const usage = read(organizationId, db)
    const entry = { usage, until: now() + rememberedMs, isRead: false }
    known.set(organizationId, entry)
    usage.then(
      () => {
        entry.isRead = true
      },
      // What could not be read is asked again by the next caller.
      () => known.get(organizationId) === entry && known.delete(organizationId),
    )
    return usage
  }

  const forget = (organizationId: string) => {
    known.delete(organizationId)
  }
  const standings = (db?: Db): QuotaStandings => ({
    of: organizationId => of(organizationId, db),
    forget,
    through: standings,
  })
  return standings()
}
