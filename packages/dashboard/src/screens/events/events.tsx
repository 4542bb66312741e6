import { useInfiniteQuery } from '@tanstack/react-query'
import { Radio, Send } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { pagesOf } from '../../api/queries.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Dotted } from '../../ui/dotted.tsx'
import { FilterBar, SearchFilter } from '../../ui/filter-bar.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import styles from './events.module.css'
import { groupEvents, type RecentEvent } from './group-events.ts'
import { Publish } from './publish.tsx'

/** Lists published events, newest first, and publishes new ones. */
export function Events(): ReactNode {
  const { workspace, to } = useWorkspace()
  const filters = useFilters(['topic'])
  const list = useInfiniteQuery({
    ...pagesOf('listTasks', { ws: workspace.id, query: { source: 'event', topic: filters.values.topic, limit: 50 } }),
    refetchInterval: 5000,
  })
  const tasks = list.data?.items
  const rows = useMemo(() => tasks && groupEvents(tasks), [tasks])
  return (
    <ResourceList
      title="Events"
      label="Recent events"
      description={
        <>
          Each event is sent immediately to its target, or to every <Link to={to.subscriptions()}>subscription</Link>{' '}
          that matches its topic.
        </>
      }
      create={{
        label: 'Publish event',
        icon: <Send size={14} />,
        right: 'event.publish',
        isWide: true,
        form: <Publish />,
      }}
      filters={
        <FilterBar filters={filters} search={<SearchFilter filters={filters} name="topic" label="Exact topic" />} />
      }
      list={{ ...list, data: rows }}
      columns={columnsOf(to)}
      empty={
        filters.isSet
          ? {
              title: 'No matching events',
              children: (
                <>
                  The filter matches the exact topic, such as <code>orders.paid</code>.
                </>
              ),
              actions: <Button onClick={filters.clear}>Clear filter</Button>,
            }
          : {
              icon: Radio,
              title: 'No events yet',
              actions: null,
              children: (
                <>
                  Publish one here, or from your code with <code>POST /api/events</code>: a topic, a payload and an
                  optional target URL.
                </>
              ),
            }
      }
    />
  )
}

function columnsOf(to: ReturnType<typeof useWorkspace>['to']): ReadonlyArray<Column<RecentEvent>> {
  return [
    {
      header: 'Topic',
      cell: ({ topic, publishedAt }) => (
        <>
          <Link to={to.log(`?${new URLSearchParams({ topic })}`)} className={styles.topic}>
            <Dotted name={topic} />
          </Link>
          <span className={styles.narrowTime}>
            <RelativeTime at={publishedAt} />
          </span>
        </>
      ),
    },
    {
      header: 'Sent to',
      cell: ({ tasks }) => (
        <ul className={styles.targets}>
          {tasks.map(({ id, url, state, replay_of }) => (
            <li key={id}>
              <StateBadge state={state} />
              <Link to={to.task(id)} className={styles.target}>
                <bdi>{url.replace(/^https?:\/\//, '')}</bdi>
              </Link>
              {replay_of && <span className={styles.faint}>replay</span>}
            </li>
          ))}
        </ul>
      ),
    },
    { header: 'Published', align: 'end', isExtra: true, cell: ({ publishedAt }) => <RelativeTime at={publishedAt} /> },
  ]
}
