import type { Action } from '@belfry/domain/permissions'
import { Lock } from 'lucide-react'
import type { ReactNode } from 'react'
import { EmptyState } from '../ui/empty-state.tsx'
import { useRights } from './use-rights.ts'

/** Why the signed-in user may not do something here; null when they may. Made for `refusal` of buttons and menu items. */
export function useRefusal(action: Action): string | null {
  const decision = useRights().can(action)
  return decision.allowed ? null : decision.reason
}

/**
 * Offers something only to whom it is allowed. Given a function, it is called with the reason of the refusal (or null),
 * so that a button can stay and say why.
 */
export function Allowed(props: {
  to: Action
  children: ReactNode | ((refusal: string | null) => ReactNode)
}): ReactNode {
  const refusal = useRefusal(props.to)
  if (typeof props.children === 'function') return props.children(refusal)
  return refusal === null ? props.children : null
}

/** A page that only some may see: the others read why. */
export function PageFor({ right, children }: { right: Action; children: ReactNode }): ReactNode {
  const refusal = useRefusal(right)
  if (refusal === null) return children
  return (
    <EmptyState icon={<Lock size={22} aria-hidden="true" />} title="This page is not for your role">
      {refusal}
    </EmptyState>
  )
}
