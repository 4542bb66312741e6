package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/resourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

type integrationResource struct{ connection }

var (
	_ resource.ResourceWithImportState      = &integrationResource{}
	_ resource.ResourceWithConfigValidators = &integrationResource{}
)

// IntegrationModel is an integration in a state.
type IntegrationModel struct {
	ID           types.String `tfsdk:"id"`
	Key          types.String `tfsdk:"key"`
	Name         types.String `tfsdk:"name"`
	Channel      types.String `tfsdk:"channel"`
	Events       []string     `tfsdk:"events"`
	URL          types.String `tfsdk:"url"`
	URLWO        types.String `tfsdk:"url_wo"`
	URLWOVersion types.Int64  `tfsdk:"url_wo_version"`
	Email        types.String `tfsdk:"email"`
	Target       types.String `tfsdk:"target"`
	Confirmed    types.Bool   `tfsdk:"confirmed"`
}

func (m *IntegrationModel) body(url any) map[string]any {
	slices.Sort(m.Events)
	return map[string]any{
		"key":     textOrNil(m.Key),
		"name":    m.Name.ValueString(),
		"channel": m.Channel.ValueString(),
		"events":  m.Events,
		"url":     url,
		"email":   textOrNil(m.Email),
	}
}

func (m *IntegrationModel) fill(from belfry.Integration) {
	m.ID = types.StringValue(from.ID)
	m.Key = types.StringPointerValue(from.Key)
	m.Name = types.StringValue(from.Name)
	m.Channel = types.StringValue(from.Channel)
	m.Events = from.Events
	m.Email = types.StringNull()
	if from.Channel == "email" {
		m.Email = types.StringValue(from.Target)
	}
	m.Target = types.StringValue(from.Target)
	m.Confirmed = types.BoolValue(from.Confirmed)
}

// forgetURL makes the next plan set the URL again.
func (m *IntegrationModel) forgetURL() {
	m.URL = types.StringNull()
	m.URLWOVersion = types.Int64Null()
}

func (r *integrationResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "belfry_integration"
}

func (r *integrationResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = integrationSchema()
}

func integrationSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "A destination for the alerts of the workspace.",
		Attributes: map[string]schema.Attribute{
			"id":   idAttribute(),
			"key":  declared("cron_job")["key"].attribute("key", nil),
			"name": schema.StringAttribute{MarkdownDescription: "The name of the integration.", Required: true},
			"channel": schema.StringAttribute{
				MarkdownDescription: "One of `slack`, `discord`, `webhook` and `email`. Another channel creates the integration again.",
				Required:            true,
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators:          []validator.String{stringvalidator.OneOf("slack", "discord", "webhook", "email")},
			},
			"events": schema.SetAttribute{
				MarkdownDescription: "Any of `task.dead`, `cronjob.failing`, `cronjob.recovered`, `host.failing`, `host.recovered`, `endpoint.failing`, `endpoint.switched_off`, `quota.warning` and `quota.reached`.",
				ElementType:         types.StringType,
				Required:            true,
				Validators: []validator.Set{
					setvalidator.SizeAtLeast(1),
					setvalidator.ValueStringsAre(stringvalidator.OneOf(
						"task.dead", "cronjob.failing", "cronjob.recovered", "host.failing", "host.recovered",
						"endpoint.failing", "endpoint.switched_off", "quota.warning", "quota.reached")),
				},
			},
			"url": schema.StringAttribute{
				MarkdownDescription: "The URL of the channel, which is a secret. It is stored in the state.",
				Optional:            true,
				Sensitive:           true,
			},
			"url_wo": schema.StringAttribute{
				MarkdownDescription: "The URL of the channel, which is not stored. Needs Terraform 1.11 or OpenTofu 1.11.",
				Optional:            true,
				Sensitive:           true,
				WriteOnly:           true,
				Validators:          []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("url_wo_version"))},
			},
			"url_wo_version": schema.Int64Attribute{
				MarkdownDescription: "Another number sends `url_wo` again.",
				Optional:            true,
				Validators:          []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("url_wo"))},
			},
			"email": schema.StringAttribute{
				MarkdownDescription: "The address of the channel `email`.",
				Optional:            true,
			},
			"target": schema.StringAttribute{
				MarkdownDescription: "The host of the URL, or the address.",
				Computed:            true,
			},
			"confirmed": schema.BoolAttribute{
				MarkdownDescription: "Whether alerts are sent: a recipient outside of the organization agrees first.",
				Computed:            true,
			},
		},
	}
}

func (r *integrationResource) ConfigValidators(context.Context) []resource.ConfigValidator {
	return []resource.ConfigValidator{
		resourcevalidator.ExactlyOneOf(path.MatchRoot("url"), path.MatchRoot("url_wo"), path.MatchRoot("email")),
	}
}

func (r *integrationResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan, config IntegrationModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	var made belfry.Integration
	if err := r.create(ctx, belfry.Integrations, withoutNils(plan.body(urlOf(config))), &made); err != nil {
		report(&resp.Diagnostics, "integration", renamed(err, "url", urlAttribute(config)), integrationSchema().Attributes)
		return
	}
	plan.fill(made)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *integrationResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state IntegrationModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, ok := read[belfry.Integration](ctx, r.client, belfry.At(belfry.Integrations, state.ID.ValueString()), "integration", resp)
	if !ok {
		return
	}
	// The API shows only the host of the URL.
	if !state.Target.IsNull() && state.Target.ValueString() != found.Target {
		state.forgetURL()
	}
	state.fill(found)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *integrationResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state, config IntegrationModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	change := changedFields(state.body(nil), plan.body(nil))
	if !plan.URL.Equal(state.URL) || !plan.URLWOVersion.Equal(state.URLWOVersion) {
		change["url"] = urlOf(config)
	}
	for _, name := range []string{"url", "email"} {
		if change[name] == nil {
			delete(change, name)
		}
	}
	var changed belfry.Integration
	if err := r.client.Patch(ctx, belfry.At(belfry.Integrations, state.ID.ValueString()), change, &changed); err != nil {
		report(&resp.Diagnostics, "integration", renamed(err, "url", urlAttribute(config)), integrationSchema().Attributes)
		return
	}
	plan.fill(changed)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *integrationResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.delete(ctx, belfry.Integrations, "id", "integration", req, resp)
}

func (r *integrationResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	r.importByIDOrKey(ctx, belfry.Integrations, "integration", req, resp)
}

// urlOf returns the URL of a configuration; only there a write-only attribute has its value.
func urlOf(config IntegrationModel) any {
	if config.URL.IsNull() {
		return textOrNil(config.URLWO)
	}
	return config.URL.ValueString()
}

func urlAttribute(config IntegrationModel) string {
	if config.URLWO.IsNull() {
		return "url"
	}
	return "url_wo"
}
