import { isTopicPattern } from '@belfry/domain/topic'
import type { ReactNode } from 'react'
import { matchingTopics } from './matching-topics.ts'
import styles from './subscriptions.module.css'

const shown = 5

/** Says what a pattern means, and which topics of recent events it matches. */
export function TopicHelp({ pattern, topics }: { pattern: string; topics: readonly string[] }): ReactNode {
  const matching = isTopicPattern(pattern) ? matchingTopics(pattern, topics) : []
  return (
    <>
      <span>{meaningOf(pattern)}</span>
      {topics.length > 0 && isTopicPattern(pattern) && (
        <span className={styles.recent}>
          {matching.length === 0 ? 'None of the recent topics matches.' : 'Of the recent topics it matches '}
          {matching.slice(0, shown).map(topic => (
            <code key={topic}>{topic}</code>
          ))}
          {matching.length > shown && ` and ${matching.length - shown} more`}
        </span>
      )}
    </>
  )
}

function meaningOf(pattern: string): ReactNode {
  if (pattern === '*') return 'Every event of the workspace.'
  if (!isTopicPattern(pattern)) {
    return (
      <>
        A topic such as <code>orders.paid</code>; <code>orders.*</code> for everything below orders; <code>*</code> for
        all.
      </>
    )
  }
  if (!pattern.endsWith('.*')) return `Events of exactly this topic.`
  const above = pattern.slice(0, -2)
  return (
    <>
      Everything below <code>{above}</code>, however deep: <code>{above}.a</code>, <code>{above}.a.b</code>; not{' '}
      <code>{above}</code> itself.
    </>
  )
}
