import type { Subscription } from '@belfry/contract/subscription'
import type { ReactNode } from 'react'
import { updateSubscription } from '../../api/subscriptions.ts'
import { useChange } from '../../forms/use-change.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Switch } from '../../ui/checkbox.tsx'

type ActiveSwitchProps = { subscription: Subscription; refusal: string | null }

/** Turns a subscription on and off. Shows the new state immediately, and the old one again after an error. */
export function ActiveSwitch({ subscription: { id, topic, active }, refusal }: ActiveSwitchProps): ReactNode {
  const { workspace } = useWorkspace()
  const { mutate, isPending, variables } = useChange({
    run: (isOn: boolean) => updateSubscription(workspace.id, id, { active: isOn }),
    affects: [['subscriptions', workspace.id]],
  })
  return (
    <Switch
      label={`${topic} is active`}
      isLabelHidden
      isOn={isPending ? variables : active}
      refusal={refusal}
      onChange={mutate}
    />
  )
}
