import type { OrganizationPolicy } from '@belfry/contract/organization'
import { call } from '../../api/call.ts'
import { useChange } from '../../forms/use-change.ts'
import { ChangeSwitch } from '../../layout/change-buttons.tsx'
import { useOrganization, useRefusal } from '../../session/scope.ts'
import { Card } from '../../ui/card.tsx'
import { Switch } from '../../ui/checkbox.tsx'
import { SelectField } from '../../ui/field.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './settings.module.css'

type Flag = keyof OrganizationPolicy

const flags: Record<Flag, { label: string; hint: string }> = {
  members_can_invite: {
    label: 'Invite people',
    hint: 'As members. Only owners and admins can invite admins and owners.',
  },
  members_can_create_workspaces: { label: 'Create workspaces', hint: 'Up to the limit of the organization.' },
  members_can_create_api_keys: {
    label: 'Create and revoke API keys',
    hint: 'In workspaces that they belong to. A key has at most the rights of its creator.',
  },
  members_can_create_secrets: {
    label: 'Manage secrets',
    hint: 'Create, update and delete secrets, and view and rotate signing secrets, in workspaces that they belong to.',
  },
  members_can_delete_tasks: {
    label: 'Delete tasks and cron jobs',
    hint: 'As editors of the workspace. Includes cancelling tasks and discarding dead letters.',
  },
  members_can_manage_integrations: {
    label: 'Manage integrations',
    hint: 'Choose where the alerts of a workspace are sent.',
  },
}

export function Policy() {
  const { organization } = useOrganization()
  const toast = useToast()
  const refusal = useRefusal('organization.change')
  const change = useChange({
    run: ({ flag, isOn }: { flag: Flag; isOn: boolean }) =>
      call('updateOrganization', { org: organization.id, body: { policy: { [flag]: isOn } } }),
    onDone(_, { flag, isOn }) {
      const ability = flags[flag].label.replace(/^./, first => first.toLowerCase())
      const undo = { label: 'Undo', run: () => change.mutate({ flag, isOn: !isOn }) }
      toast(`Members can ${isOn ? 'now' : 'no longer'} ${ability}`, 'good', undo)
    },
  })
  const lifetime = useChange({
    run: (days: number | null) =>
      call('updateOrganization', { org: organization.id, body: { max_api_key_days: days } }),
    done: 'Policy saved',
  })
  const days = String(organization.max_api_key_days ?? '')
  const isListed = keyLifetimes.some(one => one.value === days)
  const isOn = (flag: Flag) =>
    change.isPending && change.variables.flag === flag ? change.variables.isOn : organization.policy[flag]
  return (
    <>
      <PageHeader
        title="Policy"
        description="What members can do in all workspaces. Owners and admins can always do all of it. Changes apply immediately."
      />
      <Card>
        <div className={styles.switches}>
          {(Object.keys(flags) as Flag[]).map(flag => (
            <Switch
              key={flag}
              {...flags[flag]}
              isOn={isOn(flag)}
              refusal={refusal}
              onChange={isOn => change.mutate({ flag, isOn })}
            />
          ))}
        </div>
      </Card>
      <section className={styles.section}>
        <h2>API keys</h2>
        <div className={styles.narrow}>
          <Card>
            <SelectField
              label="Maximum lifetime of new API keys"
              hint="Existing keys keep their expiry. A rolled key counts as a new one."
              value={days}
              disabled={refusal !== null || lifetime.isPending}
              onChange={({ target }) => lifetime.mutate(target.value === '' ? null : Number(target.value))}
              options={isListed ? keyLifetimes : [...keyLifetimes, { value: days, label: `${days} days` }]}
            />
          </Card>
        </div>
      </section>
      <section className={styles.section}>
        <h2>Sign-in</h2>
        <Card>
          <ChangeSwitch
            label="Require a second factor"
            hint="Members without one are refused until they add one. API keys are not affected."
            isOn={organization.require_second_factor}
            refusal={useRefusal('organization.require_second_factor')}
            run={isOn => call('updateOrganization', { org: organization.id, body: { require_second_factor: isOn } })}
            done="Policy saved"
          />
        </Card>
      </section>
    </>
  )
}

const keyLifetimes = [
  { value: '', label: 'No limit' },
  ...[7, 30, 90, 180, 365].map(days => ({ value: String(days), label: `${days} days` })),
]
