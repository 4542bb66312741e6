import { isTopic, patternsOf } from '@belfry/domain/topic'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { subscriptionsQuery } from '../../api/subscriptions.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import styles from './events.module.css'

/** Shows which subscriptions an event would reach, while its topic is typed. */
export function Matches({ topic }: { topic: string }): ReactNode {
  const { workspace, to } = useWorkspace()
  const { data, hasNextPage } = useInfiniteQuery(subscriptionsQuery(workspace.id))
  const active = data?.items.filter(({ active }) => active)
  if (!active) return <p className={styles.matches}>Loading subscriptions…</p>
  if (active.length === 0) {
    return (
      <p className={styles.matches}>
        There are no active subscriptions, so the event would not be sent.{' '}
        <Link to={to.subscriptions()}>Add a subscription</Link>, or enter a target here.
      </p>
    )
  }
  if (!isTopic(topic)) return <p className={styles.matches}>Enter a topic to see which subscriptions match.</p>
  const patterns = new Set(patternsOf(topic))
  const matching = active.filter(subscription => patterns.has(subscription.topic))
  return (
    <div className={styles.matches} aria-live="polite">
      {matching.length === 0
        ? 'No active subscription matches'
        : `Matches ${matching.length} ${matching.length === 1 ? 'subscription' : 'subscriptions'}`}
      {hasNextPage && ' among the newest 100'}
      {matching.length > 0 && ':'}
      {matching.length > 0 && (
        <ul>
          {matching.map(({ id, topic: pattern, url }) => (
            <li key={id}>
              <code>{pattern}</code> → {url}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
