import APIKit
import AccountStore
import AppStorePayloads
import Base
import EventStore
import EvidenceStore
import Foundation
import HTTPTypes
import OrderStore
import PurchaseStore
import Staff
import Subscriptions

extension AdminHandlers {
    /// How many of an account's latest events are looked through for those that a purchase's evidence caused.
    private static let storyEvents = 500

    /// What happened to a purchase.
    var storyShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/purchases/{originalTransactionId}/story", "getStory",
            "What happened to a purchase, in the order in which Apple signed it, each with its status by all that is known now, how it came here, and the events that it caused with their deliveries. Several purchases where apps share the number.",
            for: .staff, successes: [.init("The story.", AdminShapes.stories)]
        ) { request in
            let member = try await member(request, for: .read)
            let id = request.path["originalTransactionId"] ?? ""
            let environment = request.query["environment"] ?? Environment.production.rawValue
            let stories = try await reader.story(of: id).filter { story in
                story.purchase.environment == environment && member.scope.sees(app: story.purchase.bundleID)
                    && (request.query["app"].map { $0 == story.purchase.bundleID } ?? true)
            }
            guard stories.contains(where: { !$0.entries.isEmpty }) else {
                throw APIProblem(.notFound, "no such purchase is known here")
            }
            var shown: [ShownStory] = []
            for story in stories { shown.append(ShownStory(story, try await reports(about: story.purchase))) }
            return APIAnswer(.ok, .object([.init("purchases", AdminShapes.story.values(of: shown))]))
        }
        endpoint.pathSchemas = ["originalTransactionId": .string(.init(1, 255))]
        endpoint.query = Self.countedQuery
        endpoint.problems = [.notFound]
        return endpoint
    }

    /// The latest events about a purchase of an account, by the notification that caused each. The API says of a purchase of no account nothing.
    private func reports(about purchase: PurchaseKey) async throws -> [String: [ShownCustomerEvent]] {
        guard let owner = try await orders.owners(of: [purchase])[purchase] else { return [:] }
        let latest = try await events.latest(Self.storyEvents, of: owner, in: purchase.environment).events
        let caused = latest.compactMap { event -> (cause: String, event: PlacedEvent)? in
            guard event.bundleID == nil || event.bundleID == purchase.bundleID,
                let cause = event.cause
            else { return nil }
            return (cause, event)
        }
        let deliveries = try await endpointStore.deliveries(
            of: caused.map(\.event.id), about: owner, in: purchase.environment)
        let byEvent = Dictionary(grouping: deliveries, by: \.eventID)
        return Dictionary(grouping: caused, by: \.cause).mapValues { group in
            group.map { ShownCustomerEvent(event: $0.event, deliveries: byEvent[$0.event.id] ?? []) }
        }
    }

    /// One notification, decoded.
    var notificationShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/notifications/{uuid}", "getNotification",
            "A notification that was verified and recorded: when Apple signed it, how it came here, and what it says, decoded and as it came.",
            for: .staff, successes: [.init("The notification.", AdminShapes.notification.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            guard let uuid = UUID(uuidString: request.path["uuid"] ?? ""),
                let found = try await reader.notification(uuid), member.scope.sees(app: found.bundleID)
            else { throw APIProblem(.notFound, "no such notification is recorded here") }
            let content = DecodedJWS(try await outbox.notificationBody(uuid))
            return APIAnswer(
                .ok, AdminShapes.notification.value(of: ShownNotification(notification: found, content: content)))
        }
        endpoint.pathSchemas = ["uuid": .string(.init(1, 100))]
        endpoint.problems = [.notFound]
        return endpoint
    }
}

extension PlacedEvent {
    /// The notification that caused it, or what else did, by its id.
    fileprivate var cause: String? {
        let body = try? JSONDocument(Array(json(previousSequence: nil).utf8)).object
        return body?.object("data")?.object("cause")?.string("uuid")?.lowercased()
    }
}
