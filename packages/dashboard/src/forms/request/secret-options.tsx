import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { pagesOf } from '../../api/queries.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'

/** Offers the secrets of the workspace to inputs with `list="secrets"`. */
export function SecretOptions(): ReactNode {
  const { workspace } = useWorkspace()
  const mayRead = useRefusal('secret.read') === null
  const { data } = useInfiniteQuery({ ...pagesOf('listSecrets', { ws: workspace.id }), enabled: mayRead })
  return (
    <datalist id="secrets">
      {data?.items.map(({ name }) => (
        <option key={name} value={`{{ secrets.${name} }}`} />
      ))}
    </datalist>
  )
}
