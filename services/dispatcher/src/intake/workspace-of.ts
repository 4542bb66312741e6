import { fromId } from '@belfry/domain'

/** The UUID of the workspace that an id (`ws_...`) names, or null. */
export function workspaceOf(id: string): string | null {
  if (id !== latest.id) latest = { id, uuid: fromId('ws', id) }
  return latest.uuid
}

// Tasks of the same workspace come together.
let latest: { id: string; uuid: string | null } = { id: '', uuid: null }
