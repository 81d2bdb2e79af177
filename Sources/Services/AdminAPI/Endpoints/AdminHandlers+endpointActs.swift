import APIKit
import AccountStore
import AppStorePayloads
import Base
import EventStore
import Events
import HTTPTypes
import Logging
import Postgres
import Staff

extension AdminHandlers {
    /// Another secret.
    var endpointRotate: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/endpoints/{id}/rotate", "rotateEndpoint",
            "Gives an endpoint a new secret, which is shown once. The old one signs as well for a day, so that the receiver can be changed in between.",
            for: .staff, successes: [.init("It is done, and on record.", AdminShapes.rotatedEndpoint.schema)]
        ) { try await rotate($0) }
        endpoint.pathSchemas = Self.endpointPath
        endpoint.body = Self.body(
            "RotateEndpointRequest",
            [
                .optional(
                    "hours", .integer(1...720), "For how many hours the old secret signs as well; 24 by default."),
                .optional(
                    "atOnce", .boolean,
                    "Whether the old secret, and earlier ones, end at once: they may be known to others."),
                Self.dryRun,
            ])
        endpoint.problems = [.noEndpoint, .tooManySecrets, .noSecretKey]
        endpoint.refusesFitting = Self.argued
        endpoint.isLogged = true
        return endpoint
    }

    private func rotate(_ request: AdminRequest) async throws -> APIAnswer {
        let body = try Self.body(request)
        let member = try await member(request, for: .changeEndpoints)
        let reason = try Self.reason(body)
        let endpoint = try await endpointOfPath(request, member)
        let opening = Opening(shortening: member, audit)
        let isAtOnce = body.bool("atOnce") == true
        let overlap: Duration = isAtOnce ? .zero : .seconds((body.integer("hours") ?? 24) * 3600)
        let firstEnd = endpoint.formerSecretEnds.min()
        do {
            let secretKey = try secrets.key(toRotate: endpoint.id)
            guard body.bool("dryRun") != true else {
                guard isAtOnce || endpoint.formerSecretEnds.count < EndpointStore.mostFormerSecrets else {
                    throw TooManyFormerSecrets(endpointID: endpoint.id, firstEndsAt: firstEnd)
                }
                return APIAnswer(
                    .ok, AdminShapes.rotatedEndpoint.value(of: (ShownAdminEndpoint(endpoint, nil, opening), nil)))
            }
            let secret = WebhookSecret()
            guard
                let rotated = try await endpointStore.rotate(
                    endpoint.id, to: secret, overlap: overlap, secretKey, by: member.actor, why: reason)
            else { throw Self.noEndpoint }
            return APIAnswer(
                .ok, AdminShapes.rotatedEndpoint.value(of: (ShownAdminEndpoint(rotated, nil, opening), secret.text)),
                log: ["endpoint": "\(endpoint.id)"])
        } catch let error as TooManyFormerSecrets { throw error.problem }
    }

    /// A test event, or a past one.
    var endpointTest: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/endpoints/{id}/test", "testEndpoint",
            "Has a worker post a test event, or a past event, to an endpoint at once and once, whatever its state and kinds. What comes back counts nowhere.",
            for: .staff,
            successes: [
                .init("What came back.", AdminShapes.endpointTrial.schema),
                .init(.accepted, "A worker has begun and is not through yet.", AdminShapes.endpointTrial.schema),
            ]
        ) { try await test($0) }
        endpoint.pathSchemas = Self.endpointPath
        endpoint.body = Self.body(
            "TestEndpointRequest",
            [
                .optional(
                    "event", .string(.init(1, 30)),
                    "A past event, by what receivers know it by: evt_42. Its data have replay: true.")
            ])
        endpoint.problems = [.noEndpoint, .noEvent, .deliveryPending, .unavailable]
        endpoint.refusesFitting = Self.argued + ", and event names one"
        endpoint.isLogged = true
        return endpoint
    }

    private func test(_ request: AdminRequest) async throws -> APIAnswer {
        let body = try Self.body(request)
        let member = try await member(request, for: .changeEndpoints)
        let reason = try Self.reason(body)
        let endpoint = try await endpointOfPath(request, member)
        var event: Int64?
        if let text = body.string("event") { event = try await pastEvent(text, for: endpoint.id, member) }
        let deadline = ContinuousClock.now + Self.trialPatience
        let id = try await endpointStore.askTrial(of: endpoint.id, sending: event, by: member.actor, why: reason)
        guard let trial = try await endpointStore.trial(id, endedBy: deadline) else {
            throw APIProblem.unavailable("the test was not made: no worker with the key of the secrets runs")
        }
        guard trial.outcome != nil || trial.isBegun else {
            throw APIProblem.unavailable("no worker with the key of the secrets has taken the test", retryAfter: 60)
        }
        return APIAnswer(
            trial.outcome == nil ? .accepted : .ok, AdminShapes.endpointTrial.value(of: trial),
            log: ["endpoint": "\(endpoint.id)", "outcome": "\(trial.outcome?.code ?? "-")"])
    }

    /// A call takes up to 15 seconds, and workers look twice a second.
    private static let trialPatience = Duration.seconds(17)

    /// A past event that is not to be taken for the delivery that an endpoint waits for.
    private func pastEvent(
        _ text: String, for endpoint: Int64, _ member: StaffMember
    ) async throws -> Int64 {
        guard let id = Delivery.eventID(text) else {
            throw APIProblem(.invalidRequest, "event takes evt_ and a number")
        }
        guard let event = try await events.event(id), member.scope.sees(app: event.bundleID) else {
            throw APIProblem(.noEvent, "no such event is kept here")
        }
        guard try await !endpointStore.isPending(id, to: endpoint) else {
            throw APIProblem(
                .deliveryPending,
                "the event is still to be delivered to the endpoint, which could take this for a repeat")
        }
        return id
    }

    static let endpointPath = ["id": ValueSchema.string(.init(1, 20))]
    private static let noEndpoint = APIProblem(.noEndpoint, "no such endpoint is known here")

    /// The endpoint that the path names, if it is the member's to see.
    func endpointOfPath(_ request: AdminRequest, _ member: StaffMember) async throws -> Endpoint {
        guard let id = Self.number(request.path["id"]), let found = try await endpointStore.find(id),
            member.scope.sees(app: found.filter.bundleID)
        else { throw Self.noEndpoint }
        return found
    }

    // MARK: Deliveries

    /// A delivery once more.
    var deliveryResend: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/deliveries/{id}/resend", "resendDelivery",
            "Sends a delivery again, whatever became of it: behind what waits for the account, under the same webhook-id.",
            for: .staff, successes: [.init("It is done, and on record.", AdminShapes.resentDelivery.schema)]
        ) { try await resend($0) }
        endpoint.pathSchemas = Self.endpointPath
        endpoint.body = Self.body("ResendDeliveryRequest", [Self.dryRun])
        endpoint.problems = [.noDelivery, .deliveryPending, .notResent]
        endpoint.refusesFitting = Self.argued
        endpoint.isLogged = true
        return endpoint
    }

    private func resend(_ request: AdminRequest) async throws -> APIAnswer {
        let body = try Self.body(request)
        let member = try await member(request, for: .changeEndpoints)
        let reason = try Self.reason(body)
        let delivery = try await deliveryOfPath(request, member)
        guard delivery.outcome != .waiting,
            try await !endpointStore.isPending(delivery.eventID, to: delivery.endpointID)
        else {
            throw APIProblem(.deliveryPending, "it waits already: workers try it again by themselves")
        }
        guard delivery.kind != nil, try await endpointStore.find(delivery.endpointID) != nil else {
            throw APIProblem(.notResent, "the event is no longer kept, or the endpoint was removed")
        }
        let isDone = body.bool("dryRun") != true
        if isDone {
            guard try await endpointStore.resend(delivery, by: member.actor, why: reason) else {
                throw APIProblem(.notResent, "the endpoint no longer wants such an event, or it waits by now")
            }
        }
        return APIAnswer(
            .ok,
            AdminShapes.resentDelivery.value(of: (ShownDelivery(delivery, Opening(shortening: member, audit)), isDone)),
            log: isDone ? ["delivery": "\(delivery.id)", "endpoint": "\(delivery.endpointID)"] : [:])
    }

    /// The delivery that the path names, if it is the member's to see.
    func deliveryOfPath(
        _ request: AdminRequest, _ member: StaffMember, at instant: Timestamp? = nil
    ) async throws -> DeliveryRecord {
        guard let id = Self.number(request.path["id"]),
            let found = try await endpointStore.delivery(id, of: Self.apps(of: member.scope), at: instant)
        else { throw APIProblem(.noDelivery, "no such delivery is known here") }
        return found
    }

    /// Whether an act is only worked out.
    static let dryRun = ValueSchema.Property.optional(
        "dryRun", .boolean, "Whether the answer only says what would be: then nothing is done or recorded.")
}
