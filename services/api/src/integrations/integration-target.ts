import type { IntegrationTarget } from '@belfry/db'

/** Where an integration sends to, and as much of it as may be seen: of a URL the host, since the rest may be a secret. */
export function integrationTarget(to: {
  url?: string | undefined
  email?: string | undefined
}): IntegrationTarget | null {
  if (to.url !== undefined) return { target: to.url, shownTarget: new URL(to.url).host }
  return to.email === undefined ? null : { target: to.email, shownTarget: to.email }
}
