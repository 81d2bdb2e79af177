import AppStorePayloads
import Base

extension ControlAPI {
    /// Lists notifications of earlier customers.
    func past(_ call: Call) async throws(Refusal) -> JSONValue {
        let body = try call.object()
        guard let count = body.integer("notifications"), (1...1_000_000).contains(count) else {
            throw Refusal(status: 400, "notifications goes from 1 to 1000000")
        }
        guard let subscribers = body.has("subscribers") ? body.integer("subscribers") : max(1, count / 10),
            (1...1_000_000).contains(subscribers)
        else { throw Refusal(status: 400, "subscribers goes from 1 to 1000000") }
        let there = try place(call)
        let now = await store.now
        let end = min(now, body.integer("endingAt") ?? now)
        let listed = await store.listPast(
            Int(count), subscribers: Int(subscribers), seed: UInt64(clamping: body.integer("seed") ?? 1), endingAt: end,
            there, isPosted: body.bool("posted") ?? true)
        return .members([
            "listed": .integer(Int64(listed.listed)), "firstSignedDate": listed.first.map(JSONValue.integer),
        ])
    }

    /// How posting goes; of a customer each notification, with what became of its posts.
    func posts(_ call: Call) async -> JSONValue {
        if let name = call.value("customer") {
            return .array(
                await store.posts(of: name).map { post in
                    .members([
                        "notificationType": .string(post.notification.type),
                        "subtype": post.notification.subtype.map(JSONValue.string),
                        "notificationUUID": .string(post.notification.uuid),
                        "signedDate": .integer(post.notification.signedDate),
                        "sendAttempts": .array(ServerAPI.attempts(post)),
                    ])
                })
        }
        let counts = await store.postCounts()
        return .members([
            "listed": .integer(Int64(counts.listed)), "arrived": .integer(Int64(counts.arrived)),
            "lost": .integer(Int64(counts.lost)),
        ])
    }
}
