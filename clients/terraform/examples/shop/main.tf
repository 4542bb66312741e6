terraform {
  required_version = ">= 1.11"
  required_providers {
    belfry = { source = "belfry/belfry" }
  }
}

# Reads BELFRY_URL and BELFRY_API_KEY.
provider "belfry" {}

variable "base" {
  type    = string
  default = "https://shop.example.com"
}

variable "slack_url" {
  type      = string
  sensitive = true
}

# Neither the plan nor the state contains the value of an ephemeral variable.
variable "api_token" {
  type      = string
  sensitive = true
  ephemeral = true
}

data "belfry_workspace" "this" {}

resource "belfry_secret" "api_token" {
  name             = "API_TOKEN"
  value_wo         = var.api_token
  value_wo_version = 1
  allowed_hosts    = ["shop.example.com"]
}

resource "belfry_queue" "partner" {
  name           = "partner-api"
  max_concurrent = 3
  rate_limit     = { count = 100, period_ms = 60000 }
}

resource "belfry_cron_job" "nightly_report" {
  key      = "shop/nightly-report"
  name     = "nightly-report"
  cron     = "0 3 * * *"
  timezone = "Europe/Berlin"
  url      = "${var.base}/report"
  headers  = { Authorization = "Bearer {{ secrets.${belfry_secret.api_token.name} }}" }
  payload  = jsonencode({ kind = "nightly", texts = ["a", "b"] })
  retry    = { max_retries = 8 }
  queue    = belfry_queue.partner.name
  labels   = ["reports", "nightly"]

  on_failure = { url = "${var.base}/failed" }
}

resource "belfry_cron_job" "cleanup" {
  key     = "shop/cleanup"
  name    = "cleanup"
  cron    = "*/5 * * * *"
  url     = "${var.base}/cleanup"
  ends_at = "2030-01-01T00:00:00Z"
  paused  = true
}

resource "belfry_subscription" "crm" {
  key        = "shop/crm"
  topic      = "orders.*"
  filter     = jsonencode([{ path = "total", op = "gte", value = 100.5 }, { path = "test", op = "ne", value = true }])
  url        = "${var.base}/crm"
  max_age_ms = 60000
  retry      = { delays_ms = [0, 60000] }
}

resource "belfry_integration" "on_call" {
  key     = "shop/on-call"
  name    = "on-call"
  channel = "slack"
  url     = var.slack_url
  events  = ["task.dead", "cronjob.failing"]
}

output "workspace" {
  value = data.belfry_workspace.this.id
}
