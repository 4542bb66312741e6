import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Usage(): ReactNode {
  return <PageHeader title="Tier and usage" />
}
