import { secretNames } from '@belfry/domain/secrets/secret-reference'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { pagesOf } from '../../api/queries.ts'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import styles from './request.module.css'
import type { RequestDraft } from './request-draft.ts'

/** Warns of secrets in a request that do not exist. The request would fail. */
export function MissingSecrets({ draft }: { draft: RequestDraft }) {
  const { workspace, to } = useWorkspace()
  const mayRead = useRefusal('secret.read') === null
  const { url, payload, headers } = useDeferredValue(draft)
  const names = [...new Set([url, payload, ...headers.map(({ value }) => value)].flatMap(secretNames))]
  const { data, hasNextPage } = useInfiniteQuery({
    ...pagesOf('listSecrets', { ws: workspace.id }),
    enabled: mayRead && names.length > 0,
    refetchOnWindowFocus: 'always', // the user may have created one in another tab
  })
  if (!data || hasNextPage) return null
  const missing = names.filter(name => !data.items.some(secret => secret.name === name))
  if (missing.length === 0) return null
  return (
    <p role="status" className={styles.warning}>
      {missing.length === 1 ? 'There is no secret named ' : 'There are no secrets named '}
      {missing.map((name, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <code>{name}</code>
        </span>
      ))}
      . The request fails until it exists.{' '}
      <Link to={to.settings('secrets')} target="_blank">
        Create secret
      </Link>
    </p>
  )
}
