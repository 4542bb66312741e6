import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Subscriptions(): ReactNode {
  return <PageHeader title="Subscriptions" />
}
