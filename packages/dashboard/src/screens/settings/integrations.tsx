import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Integrations(): ReactNode {
  return <PageHeader title="Integrations" />
}
