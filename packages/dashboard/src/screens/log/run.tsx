import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Run(): ReactNode {
  return <PageHeader title="Run" />
}
