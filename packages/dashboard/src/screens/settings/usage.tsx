import type { OrganizationSubscription, Usage as UsageResource } from '@belfry/contract/tier'
import { type TierName, tierNames } from '@belfry/domain/tiers'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CreditCard } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useSearchParams } from 'react-router'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { ChangeButton, ConfirmButton } from '../../layout/change-buttons.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Card, Stack } from '../../ui/card.tsx'
import { Chart, type ChartData } from '../../ui/chart.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { Select } from '../../ui/field.tsx'
import { formatBytes, formatCount } from '../../ui/format-amount.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Meter } from '../../ui/meter.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { FormProblem } from '../../ui/problem.tsx'
import { AbsoluteTime } from '../../ui/time.tsx'
import { wordsOf } from '../../ui/words-of.ts'
import styles from './settings.module.css'

export function Usage() {
  const { organization } = useOrganization()
  return (
    <>
      <PageHeader
        title="Usage and limits"
        description="An execution is a task whose first run has started. Retries are free. Months are in UTC."
      />
      <Loaded query={useQuery(queryOf('getUsage', { org: organization.id }))}>
        {usage => (
          <>
            <div className={styles.tiles}>
              <Card>
                <Meter title="Executions this month" {...usage.executions} format={formatCount} />
              </Card>
              <Card>
                <Meter title="Storage" {...usage.storage_bytes} format={formatBytes} />
              </Card>
              <Card>
                <Meter title="Workspaces" {...usage.workspaces} format={formatCount} />
              </Card>
            </div>
            <section className={styles.section}>
              <Card>
                <Chart title="Executions per day" data={daysOf(usage)} />
              </Card>
            </section>
          </>
        )}
      </Loaded>
      <Tiers />
    </>
  )
}

export function daysOf({ daily }: Pick<UsageResource, 'daily'>): ChartData {
  return {
    at: daily.map(({ date }) => Date.parse(date)),
    timeZone: 'UTC',
    series: [
      { label: 'Executions', values: daily.map(day => day.executions) },
      { label: 'Dead', values: daily.map(day => day.failed) },
    ],
  }
}

function Tiers() {
  const { organization } = useOrganization()
  const query = useQuery(queryOf('getTier', { org: organization.id }))
  const { data } = query
  return (
    <>
      <section className={styles.section}>
        <h2>{data && hasTiers(data) ? 'Tier' : 'Limits'}</h2>
        <Card>
          {/* A completed change resets the form. */}
          <Loaded query={query}>
            {one => <TierOf key={`${one.tier} ${one.billing.next_tier?.tier}`} subscription={one} />}
          </Loaded>
        </Card>
      </section>
      {data && <BillingState subscription={data} />}
    </>
  )
}

/** Returns whether to show tiers. A self-hosted installation without limits does not sell tiers. */
function hasTiers({ tier, billing }: OrganizationSubscription): boolean {
  return tier !== 'unlimited' || billing.provider !== 'manual'
}

function TierOf({ subscription }: { subscription: OrganizationSubscription }) {
  const { organization } = useOrganization()
  const { tier, limits, period, available_tiers: available } = subscription
  const [wanted, setWanted] = useState<TierName>(tier)
  const closed = available.length === 0 ? 'The operator of this installation changes tiers.' : null
  return (
    <Stack>
      <DefinitionList
        rows={{
          Tier: hasTiers(subscription) && wordsOf(tier),
          'Executions per month': limits.executions === null ? 'Unlimited' : formatCount(limits.executions),
          Storage: limits.storage_bytes === null ? 'Unlimited' : formatBytes(limits.storage_bytes),
          Workspaces: formatCount(limits.workspaces),
          'Log retention': `${formatCount(limits.log_days)} days`,
          'Requests per second, per key': formatCount(limits.requests_per_second),
          'Concurrent calls': `${limits.slots_percent}% of each dispatcher`,
          'Fan-out': `${formatCount(limits.fan_out_per_minute)} tasks per minute`,
          'Usage resets': <AbsoluteTime at={period.end} />,
        }}
      />
      {(limits.executions !== null || limits.storage_bytes !== null) && (
        <p className={styles.note}>
          At the limit of executions or storage, due tasks are cancelled and events are rejected. Owners get an email at
          80% and at 100%.
        </p>
      )}
      {hasTiers(subscription) && (
        <div className={styles.inline}>
          <Select
            aria-label="New tier"
            value={wanted}
            onChange={event => setWanted(event.target.value as TierName)} // one of the options
            options={tierNames
              .filter(name => name === tier || available.includes(name))
              .map(name => ({ value: name, label: wordsOf(name) }))}
          />
          <ConfirmButton
            text="Change tier"
            right="billing.change"
            refusal={closed ?? (wanted === tier ? 'This is the current tier.' : null)}
            title={`Change to ${wordsOf(wanted)}?`}
            description={consequenceOf(subscription, wanted)}
            action="Change tier"
            isDangerous={false}
            run={() => call('changeTier', { org: organization.id, body: { tier: wanted } })}
            onDone={({ checkout_url }) => checkout_url && location.assign(checkout_url)}
            done={({ tier, checkout_url, billing: { next_tier } }) => {
              if (checkout_url) return undefined
              return next_tier
                ? `${organization.name} moves to the ${wordsOf(next_tier.tier)} tier when the paid period ends`
                : `${organization.name} is now on the ${wordsOf(tier)} tier`
            }}
          />
        </div>
      )}
    </Stack>
  )
}

function consequenceOf({ tier, billing }: OrganizationSubscription, to: TierName): string {
  const kept = 'Nothing above the limits of a lower tier is deleted.'
  if (billing.provider === 'manual') return `Replaces ${wordsOf(tier)} from the next run on. ${kept}`
  if (billing.status === 'payment_failed') {
    return to === 'free' ? `The subscription ends now. ${kept}` : 'Pay the open invoice on Stripe first.'
  }
  const isLower = tierNames.indexOf(to) < tierNames.indexOf(tier)
  if (billing.status !== 'active') {
    return to === 'free'
      ? `Applies from the next run on. ${kept}`
      : 'You continue to Stripe to pay. The tier changes once the payment is confirmed.'
  }
  return isLower
    ? `You keep ${wordsOf(tier)} until the paid period ends. ${kept}`
    : 'You are charged the difference for the rest of the period now, and the tier changes immediately.'
}

/** The paid subscription, if Stripe handles the billing. */
function BillingState({ subscription }: { subscription: OrganizationSubscription }) {
  const { tier, billing } = subscription
  const { organization } = useOrganization()
  const isConfirming = useConfirmation(billing.status)
  if (billing.provider === 'manual') return null
  return (
    <section className={styles.section}>
      <h2>Billing</h2>
      <Card>
        <Stack>
          {billing.status === 'payment_failed' && <PaymentFailed tier={tier} graceUntil={billing.grace_until} />}
          {isConfirming && (
            <p className={styles.note} role="status">
              Confirming your payment. The tier changes as soon as Stripe confirms it.
            </p>
          )}
          <DefinitionList
            rows={{
              Subscription: billing.status === 'none' ? 'No subscription' : wordsOf(billing.status),
              [billing.next_tier?.tier === 'free' ? 'Ends' : 'Renews']: billing.status === 'active' &&
                billing.period_end && <AbsoluteTime at={billing.period_end} />,
            }}
          />
          {billing.next_tier && (
            <div className={styles.inline} role="status">
              <span>
                Changes to {wordsOf(billing.next_tier.tier)} on <AbsoluteTime at={billing.next_tier.at} />
              </span>
              <ChangeButton
                text={`Keep ${wordsOf(tier)}`}
                size="small"
                right="billing.change"
                run={() => call('changeTier', { org: organization.id, body: { tier } })}
              />
            </div>
          )}
          {billing.status !== 'none' && (
            <div>
              <ChangeButton
                text="Manage billing"
                icon={<CreditCard size={16} />}
                right="billing.change"
                run={() => call('openPortal', { org: organization.id })}
                leaves
                onDone={({ url }) => location.assign(url)}
              />
            </div>
          )}
        </Stack>
      </Card>
    </section>
  )
}

function PaymentFailed({ tier, graceUntil }: { tier: TierName; graceUntil: string | null }) {
  const day = graceUntil && new Date(graceUntil).toLocaleDateString(undefined, { dateStyle: 'long' })
  const isOver = graceUntil !== null && Date.parse(graceUntil) <= Date.now()
  const consequence = isOver ? 'The grace period is over.' : `You keep the ${wordsOf(tier)} tier until ${day}.`
  return <FormProblem problem={`The last payment failed. ${consequence} Choose “Manage billing” to pay.`} />
}

// Stripe redirects the owner back before its webhook has arrived.
function useConfirmation(status: OrganizationSubscription['billing']['status']): boolean {
  const { organization } = useOrganization()
  const [search, setSearch] = useSearchParams()
  const isPaid = search.get('checkout') === 'done'
  const isWaiting = isPaid && status !== 'active'
  useQuery({ ...queryOf('getTier', { org: organization.id }), refetchInterval: isWaiting ? 2_000 : false })
  const client = useQueryClient()
  useEffect(() => {
    if (!isPaid || isWaiting) return
    setSearch({}, { replace: true })
    for (const name of ['getUsage', 'getOrganization']) void client.invalidateQueries({ queryKey: [name] })
  }, [isPaid, isWaiting, setSearch, client])
  return isWaiting
}
