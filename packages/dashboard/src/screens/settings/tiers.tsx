import type { OrganizationSubscription } from '@belfry/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { changeTier, tierQuery } from '../../api/organizations.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Stack } from '../../ui/card.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Select } from '../../ui/field.tsx'
import { formatBytes, formatCount } from '../../ui/format-amount.ts'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/table.tsx'
import { AbsoluteTime } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './settings.module.css'

type TierName = OrganizationSubscription['tier']

const tiers: Record<TierName, string> = {
  free: 'Free',
  startup: 'Startup',
  scaleup: 'Scaleup',
  unicorn: 'Unicorn',
}

/** The tier, what it allows, and the choice of another one. */
export function Tiers(): ReactNode {
  const { organization } = useOrganization()
  const { data, error, refetch } = useQuery(tierQuery(organization.id))
  return (
    <section className={styles.section}>
      <h2>Tier</h2>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      <Card>{data ? <TierOf subscription={data} /> : <Skeleton />}</Card>
    </section>
  )
}

function TierOf({ subscription: { tier, limits, period } }: { subscription: OrganizationSubscription }): ReactNode {
  const [wanted, setWanted] = useState<TierName>(tier)
  const [isAsking, setIsAsking] = useState(false)
  const refusal = useRefusal('billing.change')
  return (
    <Stack>
      <DefinitionList
        rows={[
          ['Tier', tiers[tier]],
          ['Executions a month', formatCount(limits.executions)],
          ['Storage', formatBytes(limits.storage_bytes)],
          ['Workspaces', formatCount(limits.workspaces)],
          ['Log kept', `${formatCount(limits.log_days)} days`],
          ['Requests a second, per key', formatCount(limits.requests_per_second)],
          ['Counted anew', <AbsoluteTime key="end" at={period.end} />],
        ]}
      />
      <p className={styles.note}>
        At the limit of executions or storage, tasks are cancelled as they fall due, and events are refused. Owners get
        a mail at 80 % and at 100 %.
      </p>
      <form
        className={styles.inline}
        onSubmit={event => {
          event.preventDefault()
          if (wanted !== tier) setIsAsking(true)
        }}
      >
        <Select
          aria-label="Another tier"
          value={wanted}
          onChange={event => setWanted(event.target.value as TierName)} // one of the options below
        >
          {Object.entries(tiers).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </Select>
        <Button type="submit" refusal={refusal ?? (wanted === tier ? `This is the tier already.` : null)}>
          Change tier
        </Button>
      </form>
      <ChangeDialog from={tier} to={isAsking ? wanted : null} onClose={() => setIsAsking(false)} />
    </Stack>
  )
}

function ChangeDialog({ from, to, onClose }: { from: TierName; to: TierName | null; onClose(): void }): ReactNode {
  const { organization } = useOrganization()
  const client = useQueryClient()
  const say = useToast()
  const change = useMutation({
    mutationFn: (tier: TierName) => changeTier(organization.id, tier),
    async onSuccess({ tier, checkout_url }) {
      if (checkout_url) {
        location.assign(checkout_url)
        return
      }
      onClose()
      say(`${organization.name} is on the tier ${tiers[tier]} now.`)
      await Promise.all(
        ['tier', 'usage', 'organization'].map(name => client.invalidateQueries({ queryKey: [name, organization.id] })),
      )
    },
  })
  return (
    <ConfirmDialog
      isOpen={to !== null}
      onClose={onClose}
      title={`Change to ${to ? tiers[to] : 'another tier'}?`}
      description={`From ${tiers[from]}, from the next dispatch on. Nothing that a lower tier has no room for is taken away.`}
      action="Change tier"
      isPending={change.isPending}
      onConfirm={() => to && change.mutate(to)}
    >
      {change.error && <Problem error={change.error} />}
    </ConfirmDialog>
  )
}
