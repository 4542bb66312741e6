package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

// A cron job that is to be paused is created with this start, so it never runs before the pause.
const notYet = "2090-01-01T00:00:00.000Z"

const defaultContentType = "application/octet-stream"

type cronJobResource struct{ connection }

var _ resource.ResourceWithImportState = &cronJobResource{}

// cronJobFields have a method by default, which the API requires.
var cronJobFields = func() fields {
	all := declared("cron_job")
	method := all["method"]
	method.Required, method.Default = false, "POST"
	all["method"] = method
	return all
}()

// writeCronJob sets the attributes of a state to an answer. They keep a content type and a pause that the answer does not show.
func writeCronJob(
	ctx context.Context, own values, answer belfry.Object, to *tfsdk.State, diagnostics *diag.Diagnostics,
) {
	if contentType := answer.Text("content_type"); contentType != nil && own.hasDefaultContentType(*contentType) {
		answer["content_type"] = json.RawMessage("null")
	}
	status := answer.Text("status")
	// A cron job that has ended does not show whether it is paused.
	if paused := own["paused"]; status != nil && (*status != "ended" || paused.IsNull()) {
		own["paused"] = types.BoolValue(*status == "paused")
	}
	own.write(ctx, cronJobFields, answer, to, diagnostics)
}

// hasDefaultContentType returns whether a content type is that of a cron job without content_type.
func (v values) hasDefaultContentType(now string) bool {
	if !v.text("content_type").IsNull() {
		return false
	}
	headers, _ := v["headers"].(types.Map)
	for name, value := range headers.Elements() {
		if isContentType(name) {
			return value.Equal(types.StringValue(now))
		}
	}
	return now == defaultContentType
}

func (v values) isPaused() bool {
	paused, _ := v["paused"].(types.Bool)
	return paused.ValueBool()
}

func (r *cronJobResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "belfry_cron_job"
}

func (r *cronJobResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = cronJobSchema()
}

func (r *cronJobResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan := readValues(ctx, req.Plan, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	body := withoutNils(cronJobFields.body(plan))
	if plan.isPaused() {
		body["starts_at"] = notYet
		delete(body, "ends_at")
	}
	var made belfry.Object
	if err := r.create(ctx, belfry.CronJobs, body, &made); err != nil {
		report(&resp.Diagnostics, "cron job", err, cronJobSchema().Attributes)
		return
	}
	if plan.isPaused() {
		if err := r.finishPaused(ctx, plan, &made); err != nil {
			report(&resp.Diagnostics, "cron job", err, cronJobSchema().Attributes)
		}
	}
	// With an error, Terraform replaces the cron job in the next run.
	writeCronJob(ctx, plan, made, &resp.State, &resp.Diagnostics)
}

// finishPaused pauses a new cron job, and sets its times.
func (r *cronJobResource) finishPaused(ctx context.Context, plan values, made *belfry.Object) error {
	at := belfry.At(belfry.CronJobs, *made.Text("id"))
	if err := r.client.Act(ctx, at+"/pause", made); err != nil {
		return err
	}
	times := map[string]any{"starts_at": textOrNil(plan.text("starts_at")), "ends_at": textOrNil(plan.text("ends_at"))}
	return r.client.Patch(ctx, at, times, made)
}

func (r *cronJobResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state := readValues(ctx, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	at := belfry.At(belfry.CronJobs, state.text("id").ValueString())
	found, ok := read(ctx, r.client, at, "cron job", resp)
	if !ok {
		return
	}
	writeCronJob(ctx, state, found, &resp.State, &resp.Diagnostics)
}

func (r *cronJobResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan := readValues(ctx, req.Plan, &resp.Diagnostics)
	state := readValues(ctx, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	changed, err := r.update(ctx, plan, state)
	if err != nil {
		report(&resp.Diagnostics, "cron job", err, cronJobSchema().Attributes)
		return
	}
	writeCronJob(ctx, plan, changed, &resp.State, &resp.Diagnostics)
}

// update pauses before it changes other fields, and resumes after, so the cron job never runs in between.
func (r *cronJobResource) update(ctx context.Context, plan, state values) (belfry.Object, error) {
	var now belfry.Object
	at := belfry.At(belfry.CronJobs, state.text("id").ValueString())
	isPaused, wasPaused := plan.isPaused(), state.isPaused()
	if isPaused && !wasPaused {
		if err := r.client.Act(ctx, at+"/pause", &now); err != nil {
			return now, err
		}
	}
	if err := r.client.Patch(ctx, at, bodyChange(cronJobFields.body(state), cronJobFields.body(plan)), &now); err != nil {
		return now, err
	}
	if !isPaused && wasPaused {
		now = belfry.Object{}
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
