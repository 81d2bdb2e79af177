import AppStorePayloads
import Base

extension ServerAPI {
    func notifications(_ call: Call) async throws(Refusal) -> JSONValue {
        let body = try call.object()
        guard let start = body.integer("startDate") else { throw Refusal(4_000_015, "Invalid start date.") }
        guard let end = body.integer("endDate") else { throw Refusal(4_000_016, "Invalid end date.") }
        guard start < end else { throw Refusal(4_000_013, "Start date is after end date.") }
        let now = await store.now
        // 180 days, in Sandbox 30; a minute more, for callers that use their own clock.
        guard start >= now - Milliseconds.days(call.place == .production ? 180 : 30) - 60_000 else {
            throw Refusal(4_000_012, "Start date is too far in the past.")
        }
        let type = body.string("notificationType")
        let id = body.string("transactionId")
        if type != nil, id != nil { throw Refusal(4_000_019, "Multiple filters supplied.") }
        if let type, !NotificationType.known.contains(NotificationType(rawValue: type)) {
            throw Refusal(4_000_018, "Invalid notification type.")
        }
        let subtype = body.string("notificationSubtype")
        let onlyFailures = body.bool("onlyFailures") ?? false
        var position = 0
        if let token = call.value("paginationToken") {
            guard let read = Revision.read(token) else { throw Refusal(4_000_014, "Invalid pagination token.") }
            position = read
        }
        let posts = await store.posts
        var items: [JSONValue] = []
        var next: Int?
        // By their place in the store's list, which only grows: posts that are added meanwhile shift no place.
        for index in position..<max(position, posts.count) {
            // Most are of another time: these are not even copied.
            let signedDate = posts[index].notification.signedDate
            guard signedDate <= now, signedDate >= start, signedDate <= end else { continue }
            let post = posts[index]
            let notification = post.notification
            guard post.environment == call.place, type == nil || notification.type == type,
                subtype == nil || notification.subtype == subtype,
                id == nil || notification.transaction?.transactionId == id
                    || notification.transaction?.originalTransactionId == id,
                !onlyFailures || !post.hasArrived
            else { continue }
            guard items.count < Self.pageSize else {
                next = index
                break
            }
            items.append(
                .members([
                    "signedPayload": .string(await store.signed(post)), "sendAttempts": .array(Self.attempts(post)),
                ]))
        }
        return .members([
            "notificationHistory": .array(items), "hasMore": .bool(next != nil),
            "paginationToken": next.map { JSONValue.string(Revision.write($0)) },
        ])
    }

    static func attempts(_ post: ListedPost) -> [JSONValue] {
        post.attempts.map {
            .members(["attemptDate": .integer($0.instant), "sendAttemptResult": .string($0.result)])
        }
    }

    func test(_ call: Call) async throws(Refusal) -> JSONValue {
        guard let token = await store.requestTest(call.place) else {
            throw Refusal(4_040_007, "No App Store Server Notification URL found for provided app.")
        }
        return .members(["testNotificationToken": .string(token)])
    }

    func testStatus(_ call: Call, _ token: String) async throws(Refusal) -> JSONValue {
        guard let post = await store.testPost(token), post.environment == call.place else {
            throw Refusal(4_040_008, "Either the test notification token is expired or the notification was not found.")
        }
        return .members([
            "signedPayload": .string(await store.signed(post)), "sendAttempts": .array(Self.attempts(post)),
        ])
    }
}

extension SimulatedAppStore {
    /// Posts a test notification; nil where nowhere to is known.
    func requestTest(_ place: Place) -> String? {
        guard configuration.notifyURL != nil, var house = houses[place] else { return nil }
        house.test(at: now)
        defer { houses[place] = house }
        guard let notification = house.takeNotifications().first else { return nil }
        let token = "\(notification.uuid)_\(now)"
        tests[token] = list(notification, place)
        return token
    }

    /// A test notification by its token.
    func testPost(_ token: String) -> ListedPost? { tests[token].map { posts[$0] } }
}
