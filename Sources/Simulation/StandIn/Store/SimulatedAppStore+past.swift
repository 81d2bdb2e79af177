extension SimulatedAppStore {
    /// Lists notifications of customers from before the stand-in was started, signed on dates up to an instant. Nothing
    /// else of these customers exists.
    /// - Parameters:
    ///   - subscribers: the more of them, the shorter the time that their notifications span.
    ///   - isPosted: whether they are also posted; otherwise they are only listed.
    /// - Returns: how many are listed, and the date of the first.
    func listPast(
        _ notifications: Int, subscribers: Int, seed: UInt64, endingAt end: Milliseconds, _ place: Place,
        isPosted: Bool
    ) -> (listed: Int, first: Milliseconds?) {
        let simulation = Simulation(
            seed: seed, subscribers: subscribers, notifications: notifications, app: app(place), endingAt: end)
        var first: Milliseconds?
        posts.reserveCapacity(posts.count + notifications)
        for delivery in simulation.deliveries {
            let index = list(delivery.notification, place)
            if !isPosted { posts[index].next = nil }
            first = min(first ?? .max, delivery.notification.signedDate)
        }
        return (notifications, first)
    }

    /// The notifications about a customer, in the order of signing.
    func posts(of name: String) -> [ListedPost] {
        guard let customer = customers[name] else { return [] }
        return posts.dropFirst(customer.firstPost ?? 0).filter { self.customer(of: $0) == name }.sorted {
            $0.notification.signedDate < $1.notification.signedDate
        }
    }

    /// How many notifications are listed, how many of those have arrived, and how many were posted without success so
    /// far. The rest is not posted yet, or never will be.
    func postCounts() -> (listed: Int, arrived: Int, lost: Int) {
        let arrived = posts.count(where: \.hasArrived)
        return (posts.count, arrived, posts.count { !$0.attempts.isEmpty && !$0.hasArrived })
    }
}
