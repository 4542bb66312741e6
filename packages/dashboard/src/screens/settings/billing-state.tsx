import type { OrganizationSubscription } from '@belfry/contract/tier'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CreditCard } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { useSearchParams } from 'react-router'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Card, Stack } from '../../ui/card.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { FormProblem } from '../../ui/problem.tsx'
import { AbsoluteTime } from '../../ui/time.tsx'
import styles from './settings.module.css'
import { type TierName, tierLabels } from './tier-labels.ts'

type Billing = OrganizationSubscription['billing']

const statuses: Record<Billing['status'], string> = {
  none: 'No subscription',
  active: 'Active',
  payment_failed: 'Payment failed',
  canceled: 'Canceled',
}

/** The paid subscription, if Stripe handles the billing. */
export function BillingState({ subscription }: { subscription: OrganizationSubscription }): ReactNode {
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
          <DefinitionList rows={rowsOf(billing)} />
          {billing.next_tier && <PlannedChange tier={tier} next={billing.next_tier} />}
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

function rowsOf({ status, period_end, next_tier }: Billing): Array<[string, ReactNode]> {
  const isOver = status !== 'active' || period_end === null
  const label = next_tier?.tier === 'free' ? 'Ends' : 'Renews'
  return [
    ['Subscription', statuses[status]],
    ...(isOver ? [] : ([[label, <AbsoluteTime key="end" at={period_end} />]] as Array<[string, ReactNode]>)),
  ]
}

function PaymentFailed({ tier, graceUntil }: { tier: TierName; graceUntil: string | null }): ReactNode {
  const day = graceUntil && new Date(graceUntil).toLocaleDateString(undefined, { dateStyle: 'long' })
  const isOver = graceUntil !== null && Date.parse(graceUntil) <= Date.now()
  const consequence = isOver ? 'The grace period is over.' : `You keep the ${tierLabels[tier]} tier until ${day}.`
  return <FormProblem problem={`The last payment failed. ${consequence} Choose “Manage billing” to pay.`} />
}

function PlannedChange({ tier, next }: { tier: TierName; next: NonNullable<Billing['next_tier']> }): ReactNode {
  const { organization } = useOrganization()
  return (
    <div className={styles.inline} role="status">
      <span>
        Changes to {tierLabels[next.tier]} on <AbsoluteTime at={next.at} />
      </span>
      <ChangeButton
        text={`Keep ${tierLabels[tier]}`}
        size="small"
        right="billing.change"
        run={() => call('changeTier', { org: organization.id, body: { tier } })}
      />
    </div>
  )
}

// Stripe redirects the owner back before its webhook has arrived.
function useConfirmation(status: Billing['status']): boolean {
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
