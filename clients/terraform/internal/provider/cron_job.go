package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

// A cron job that is to be paused is created with this start, so it never runs before the pause.
const notYet = "2090-01-01T00:00:00.000Z"

const defaultContentType = "application/octet-stream"

type cronJobResource struct{ connection }

var _ resource.ResourceWithImportState = &cronJobResource{}

// CronJobModel is a cron job in a state.
type CronJobModel struct {
	DeliveryModel
	Name          types.String `tfsdk:"name"`
	Method        types.String `tfsdk:"method"`
	Cron          types.String `tfsdk:"cron"`
	Timezone      types.String `tfsdk:"timezone"`
	Payload       types.String `tfsdk:"payload"`
	PayloadBase64 types.String `tfsdk:"payload_base64"`
	ContentType   types.String `tfsdk:"content_type"`
	Overlap       types.String `tfsdk:"overlap"`
	CatchUp       types.String `tfsdk:"catch_up"`
	StartsAt      types.String `tfsdk:"starts_at"`
	EndsAt        types.String `tfsdk:"ends_at"`
	Paused        types.Bool   `tfsdk:"paused"`
}

func (m *CronJobModel) body() map[string]any {
	body := m.DeliveryModel.body()
	body["name"] = m.Name.ValueString()
	body["method"] = m.Method.ValueString()
	body["cron"] = m.Cron.ValueString()
	body["timezone"] = m.Timezone.ValueString()
	body["overlap"] = m.Overlap.ValueString()
	body["catch_up"] = m.CatchUp.ValueString()
	body["starts_at"] = textOrNil(m.StartsAt)
	body["ends_at"] = textOrNil(m.EndsAt)
	body["payload"] = nil
	if !m.Payload.IsNull() {
		body["payload"] = json.RawMessage(m.Payload.ValueString())
	}
	body["payload_base64"] = textOrNil(m.PayloadBase64)
	body["content_type"] = textOrNil(m.ContentType)
	return body
}

func (m *CronJobModel) fill(from belfry.CronJob) {
	hasDefaultType := from.ContentType != nil && m.hasDefaultContentType(*from.ContentType)
	m.DeliveryModel.fill(from.Delivery)
	m.Name = types.StringValue(from.Name)
	m.Method = types.StringValue(from.Method)
	m.Cron = sameCron.keep(m.Cron, &from.Cron)
	m.Timezone = types.StringValue(from.Timezone)
	var payload *string
	if text := string(from.Payload); text != "" && text != "null" {
		payload = &text
	}
	m.Payload = sameJSON.keep(m.Payload, payload)
	m.PayloadBase64 = types.StringPointerValue(from.PayloadBase64)
	if hasDefaultType {
		m.ContentType = types.StringNull()
	} else {
		m.ContentType = types.StringPointerValue(from.ContentType)
	}
	m.Overlap = types.StringValue(from.Overlap)
	m.CatchUp = types.StringValue(from.CatchUp)
	m.StartsAt = sameTime.keep(m.StartsAt, from.StartsAt)
	m.EndsAt = sameTime.keep(m.EndsAt, from.EndsAt)
	// A cron job that has ended does not show whether it is paused.
	if from.Status != "ended" || m.Paused.IsNull() {
		m.Paused = types.BoolValue(from.Status == "paused")
	}
}

// hasDefaultContentType returns whether a content type is that of a cron job without content_type.
func (m *CronJobModel) hasDefaultContentType(now string) bool {
	if !m.ContentType.IsNull() {
		return false
	}
	for name, value := range m.Headers {
		if isContentType(name) {
			return value == now
		}
	}
	return now == defaultContentType
}

func (r *cronJobResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "belfry_cron_job"
}

func (r *cronJobResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = cronJobSchema()
}

func (r *cronJobResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan CronJobModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	body := withoutNils(plan.body())
	if plan.Paused.ValueBool() {
		body["starts_at"] = notYet
		delete(body, "ends_at")
	}
	var made belfry.CronJob
	if err := r.create(ctx, belfry.CronJobs, body, &made); err != nil {
		report(&resp.Diagnostics, "cron job", err, cronJobSchema().Attributes)
		return
	}
	if plan.Paused.ValueBool() {
		if err := r.finishPaused(ctx, &plan, &made); err != nil {
			report(&resp.Diagnostics, "cron job", err, cronJobSchema().Attributes)
		}
	}
	// With an error, Terraform replaces the cron job in the next run.
	plan.fill(made)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// finishPaused pauses a new cron job, and sets its times.
func (r *cronJobResource) finishPaused(ctx context.Context, plan *CronJobModel, made *belfry.CronJob) error {
	at := belfry.At(belfry.CronJobs, made.ID)
	if err := r.client.Act(ctx, at+"/pause", made); err != nil {
		return err
	}
	times := map[string]any{"starts_at": textOrNil(plan.StartsAt), "ends_at": textOrNil(plan.EndsAt)}
	return r.client.Patch(ctx, at, times, made)
}

func (r *cronJobResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state CronJobModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, ok := read[belfry.CronJob](ctx, r.client, belfry.At(belfry.CronJobs, state.ID.ValueString()), "cron job", resp)
	if !ok {
		return
	}
	state.fill(found)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *cronJobResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state CronJobModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	changed, err := r.update(ctx, &plan, &state)
	if err != nil {
		report(&resp.Diagnostics, "cron job", err, cronJobSchema().Attributes)
		return
	}
	plan.fill(changed)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// update pauses before it changes other fields, and resumes after, so the cron job never runs in between.
func (r *cronJobResource) update(ctx context.Context, plan, state *CronJobModel) (belfry.CronJob, error) {
	var now belfry.CronJob
	at := belfry.At(belfry.CronJobs, state.ID.ValueString())
	isPaused, wasPaused := plan.Paused.ValueBool(), state.Paused.ValueBool()
	if isPaused && !wasPaused {
		if err := r.client.Act(ctx, at+"/pause", &now); err != nil {
			return now, err
		}
	}
	if err := r.client.Patch(ctx, at, bodyChange(state.body(), plan.body()), &now); err != nil {
		return now, err
	}
	if !isPaused && wasPaused {
		now = belfry.CronJob{}
		return now, r.client.Act(ctx, at+"/resume", &now)
	}
	return now, nil
}

// bodyChange returns what changes. The API has no null for a body: one kind of body takes the place of the other.
func bodyChange(before, after map[string]any) map[string]any {
	change := changedFields(before, after)
	_, hasOtherBytes := change["payload_base64"]
	_, hasOtherType := change["content_type"]
	if hasOtherBytes || hasOtherType {
		change["payload_base64"] = after["payload_base64"]
		change["content_type"] = after["content_type"]
	}
	for _, name := range []string{"payload", "payload_base64", "content_type"} {
		if change[name] == nil {
			delete(change, name)
		}
	}
	return change
}

func (r *cronJobResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.delete(ctx, belfry.CronJobs, "id", "cron job", req, resp)
}

func (r *cronJobResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	r.importByIDOrKey(ctx, belfry.CronJobs, "cron job", req, resp)
}
