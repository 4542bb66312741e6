import type { SubscriptionSecret } from '@belfry/contract/secret'
import type { Subscription } from '@belfry/contract/subscription'
import { hostOf } from '@belfry/domain/target-url'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Inbox, KeyRound } from 'lucide-react'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import { allOf, pagesOf } from '../../api/queries.ts'
import { ChangeButton, ChangeSwitch, ConfirmButton, DialogButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { DialogActions } from '../../ui/dialog.tsx'
import { Dotted } from '../../ui/dotted.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { HiddenSecret } from '../settings/hidden-secret.tsx'
import { writeFilterLines } from './filter-lines.ts'
import { matchingTopics, topicsOf } from './recent-topics.ts'
import { SubscriptionForm } from './subscription-form.tsx'
import styles from './subscriptions.module.css'

/** Lists the subscriptions of targets to topics. */
export function Subscriptions(): ReactNode {
  const { workspace } = useWorkspace()
  const events = useInfiniteQuery(pagesOf('listTasks', { ws: workspace.id, query: { source: 'event', limit: 100 } }))
  const topics = topicsOf(events.data?.items ?? [])
  const writeRefusal = useRefusal('subscription.write')
  return (
    <ResourceList
      title="Subscriptions"
      description="A subscription sends events with a matching topic and payload to a target. Events published without a target go to every active match."
      list={useInfiniteQuery(pagesOf('listSubscriptions', { ws: workspace.id, query: { limit: 100 } }))}
      create={{
        label: 'New subscription',
        isWide: true,
        right: 'subscription.write',
        form: <SubscriptionForm subscription={null} topics={topics} />,
      }}
      empty={{
        icon: Inbox,
        title: 'No subscriptions yet',
        children: (
          <>
            Subscribe a target to <code>orders.paid</code>, to all topics below <code>orders</code> with{' '}
            <code>orders.*</code>, or to all events with <code>*</code>. Then publish an event to that topic.
          </>
        ),
      }}
      columns={[
        {
          header: 'Topic',
          cell: ({ topic, filter, url, mcp, created_by, expires_at }) => (
            <>
              <code className={styles.topic}>
                <Dotted name={topic} />
              </code>
              {mcp && (
                <span className={styles.filter}>
                  {mcp.name} {JSON.stringify(mcp.arguments)} for the MCP client of {mcp.principal ?? created_by}
                  {expires_at && (
                    <>
                      , ends <RelativeTime at={expires_at} />
                    </>
                  )}
                </span>
              )}
              {filter.length > 0 && <span className={styles.filter}>{writeFilterLines(filter)}</span>}
              <span className={styles.narrowUrl}>{url.replace(/^https?:\/\//, '')}</span>
            </>
          ),
        },
        {
          header: 'Target',
          isExtra: true,
          cell: ({ url }) => (
            <span className={styles.url} title={url}>
              {url}
            </span>
          ),
        },
        {
          header: 'Recent topics',
          isExtra: true,
          cell: ({ topic }) => <Matching topics={matchingTopics(topic, topics)} />,
        },
        {
          header: 'Active',
          cell: subscription => (
            <>
              <ChangeSwitch
                label={`${subscription.topic} is active`}
                isLabelHidden
                isOn={subscription.active}
                refusal={writeRefusal}
                run={active => call('updateSubscription', { ws: workspace.id, sub: subscription.id, body: { active } })}
              />
              <Failing subscription={subscription} />
            </>
          ),
        },
      ]}
      actions={subscription => (
        <DialogButton
          label={`Signing secret of ${subscription.topic}`}
          icon={<KeyRound size={16} />}
          description="A secret of its own signs the calls of this subscription only, so its receiver cannot forge other calls."
          right="signing_secret.read"
        >
          <SubscriptionSecrets subscription={subscription} />
        </DialogButton>
      )}
      nameOf={({ topic }) => topic}
      edit={{
        isWide: true,
        right: 'subscription.write',
        form: subscription => <SubscriptionForm subscription={subscription} topics={topics} />,
      }}
      remove={{
        what: 'subscription',
        description: ({ url, mcp }) =>
          mcp
            ? `${url} will no longer receive these events, until its MCP client subscribes again. Belfry cancels calls that it has not made yet.`
            : `${url} will no longer receive these events. Events that are already published are still sent.`,
        right: 'subscription.delete',
        run: ({ id }) => call('deleteSubscription', { ws: workspace.id, sub: id }),
      }}
    />
  )
}

const maxShown = 2

function Matching({ topics }: { topics: readonly string[] }): ReactNode {
  if (topics.length === 0) return <span className={styles.faint}>None</span>
  const more = topics.length - maxShown
  return (
    <span className={styles.matching} title={topics.join('\n')}>
      {topics.slice(0, maxShown).map(topic => (
        <code key={topic}>{topic}</code>
      ))}
      {more > 0 && <span className={styles.faint}>and {more} more</span>}
    </span>
  )
}

/** The signing secrets that a subscription has of its own. */
function SubscriptionSecrets({ subscription }: { subscription: Subscription }): ReactNode {
  const { workspace } = useWorkspace()
  const query = useQuery(allOf('listSubscriptionSecrets', { ws: workspace.id, sub: subscription.id }))
  return <Loaded query={query}>{secrets => <Secrets subscription={subscription} secrets={secrets} />}</Loaded>
}

type SecretsProps = { subscription: Subscription; secrets: readonly SubscriptionSecret[] }

function Secrets({ subscription, secrets }: SecretsProps): ReactNode {
  const { workspace } = useWorkspace()
  const hasOwn = secrets.length > 0
  return (
    <>
      {hasOwn ? (
        <DefinitionList
          rows={secrets.map(({ secret, expires_at }, i) => [
            i === 0 ? 'Current' : i === 1 ? 'Previous' : `Previous ${i}`,
            <>
              <HiddenSecret text={secret} />
              {expires_at && (
                <>
                  {' '}
                  expires <RelativeTime at={expires_at} />
                </>
              )}
            </>,
          ])}
        />
      ) : (
        <p>The signing secret of the workspace signs its calls.</p>
      )}
      <DialogActions>
        {hasOwn && (
          <ConfirmButton
            text="Use the workspace's secret"
            right="signing_secret.revoke"
            title="Use the workspace's signing secret?"
            description="The secrets of this subscription are deleted, and the receiver must verify with the one of the workspace."
            action="Delete secrets"
            run={() => call('removeSubscriptionSecrets', { ws: workspace.id, sub: subscription.id })}
            done="Signing secrets deleted"
          />
        )}
        <ChangeButton
          text={hasOwn ? 'Rotate' : 'Create secret'}
          kind="primary"
          right="signing_secret.rotate"
          run={() => call('rotateSubscriptionSecret', { ws: workspace.id, sub: subscription.id })}
          done={hasOwn ? 'Signing secret rotated' : 'Signing secret created'}
        />
      </DialogActions>
    </>
  )
}

/** Says since when a subscription fails, and leads to the events that it missed. */
function Failing({ subscription }: { subscription: Subscription }): ReactNode {
  const { to } = useWorkspace()
  const { failing_since: since, paused_reason: reason, topic, url } = subscription
  if (since === null) return null
  const filter = new URLSearchParams({ host: hostOf(url), ...(topic.includes('*') ? {} : { topic }) })
  return (
    <span className={styles.failing}>
      {reason === null ? 'Failing since ' : 'Switched off: only failed since '}
      <RelativeTime at={since} />. <Link to={to.deadLetters(`?${filter}`)}>Dead letters</Link>
    </span>
  )
}
