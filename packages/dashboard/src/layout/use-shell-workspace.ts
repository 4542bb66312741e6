import type { Workspace } from '@belfry/contract'
import { lastPlace } from '../session/last-place.ts'
import { useOrganization } from '../session/scope.ts'

/** The workspace that the navigation is about: that of the address, the one seen last, or the first there is. */
export function useShellWorkspace(): Workspace | undefined {
  const { workspace, workspaces } = useOrganization()
  if (workspace) return workspace
  const last = lastPlace()?.ws
  return workspaces.find(({ id }) => id === last) ?? workspaces.at(-1)
}
