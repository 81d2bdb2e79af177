extension AppStore {
    /// What the file says already, to tell what is new.
    struct Written {
        var standing: StateChange.Standing?
        var customers: [String: Customer] = [:]
        var posts = 0
        var received = 0
    }

    /// How many customers, or posts, a line takes when all of them are written.
    private static let portion = 200

    /// Goes on with the shop that a file holds, or begins to keep this one in it. To be called first.
    ///
    /// - Throws: `StateFile.Fault`.
    func resume(from path: String) throws {
        let file = try StateFile(path) { try take($0, path) }
        guard let standing = written.standing else {
            self.file = file
            return try rewrite()
        }
        guard standing.rootFingerprint == authority.rootFingerprint else {
            throw StateFile.Fault(
                description:
                    "\(path) is of a shop that signs under another root; name its directory with --pki, or another "
                    + "file with --state")
        }
        self.file = file
        for customer in written.customers.values { enter(customer) }
        // That is how the file has them.
        _ = (customers.takeWritten(), tests.takeWritten(), extensionDates.takeWritten(), receipts.takeWritten())
        movedPosts = []
        (written.posts, written.received) = (posts.count, received.count)
        take(standing)
        if configuration.speed != standing.startedWithSpeed { change(speed: configuration.speed) }
        // Started without --notify it posts nothing more; with it, what nobody was to get is not posted late.
        if configuration.notifyURL == nil {
            for index in posts.indices { posts[index].next = nil }
        }
        try rewrite()
    }

    /// Writes down what changed; it is on the disk when this returns.
    ///
    /// - Throws: `StateFile.Fault`.
    func save() throws {
        let change = takeChange()
        guard let file, !change.isEmpty else { return }
        try file.append(change)
        if file.isLong { try rewrite() }
    }

    /// Writes down the shop as it stands, and nothing else, and lets go of the file.
    ///
    /// - Throws: `StateFile.Fault`.
    func close() throws {
        guard file != nil else { return }
        try save()
        try rewrite()
        file = nil
    }

    // MARK: - Writing

    private var standing: StateChange.Standing {
        StateChange.Standing(
            rootFingerprint: authority.rootFingerprint, random: random, lanes: lanes, ahead: ahead, lived: lived,
            speed: speed, startedWithSpeed: configuration.speed, forgeries: forgeries, provoked: provoked,
            massExtensions: massExtensions, houses: Place.allCases.compactMap { houses[$0] })
    }

    private func takeChange() -> StateChange {
        let (people, moved) = (customers.takeWritten().sorted(), movedPosts.sorted())
        let (tokens, extended, issued) = (tests.takeWritten(), extensionDates.takeWritten(), receipts.takeWritten())
        movedPosts = []
        var change = StateChange()
        // Without a file nothing is remembered twice.
        guard file != nil else { return change }
        var next = standing
        // By itself the instant of its last breath is nothing new.
        let lived = next.lived
        next.lived = written.standing?.lived
        let isNews = next != written.standing
        next.lived = lived
        change.customers =
            people.compactMap { id in
                customers[id].flatMap { written.customers[id] == $0 ? nil : Self.withoutItems($0) }
            }.unlessEmpty
        change.sales = people.flatMap { sales(of: $0, since: written.customers[$0]) }.unlessEmpty
        for id in people { written.customers[id] = customers[id] }
        change.letters = (written.posts..<posts.count).map(letter).unlessEmpty
        change.ways = moved.map(way).unlessEmpty
        written.posts = posts.count
        change.received = Array(received[written.received...]).unlessEmpty
        written.received = received.count
        change.tests = tests.entries(tokens).unlessEmpty
        change.extensionDates = extensionDates.entries(extended).unlessEmpty
        change.receipts = receipts.entries(issued).unlessEmpty
        if isNews || !change.isEmpty {
            change.standing = next
            written.standing = next
        }
        return change
    }

    /// The shop as it stands, in lines of a bearable length.
    private func rewrite() throws {
        try file?.rewrite { add in
            try add(StateChange(standing: standing))
            for portion in customers.keys.sorted().portions(of: Self.portion) {
                try add(
                    StateChange(
                        customers: portion.compactMap { customers[$0].map(Self.withoutItems) },
                        sales: portion.flatMap { sales(of: $0, since: nil) }))
            }
            for portion in posts.indices.portions(of: Self.portion) {
                try add(StateChange(letters: portion.map(letter), ways: portion.map(way)))
            }
            // What names posts comes after them.
            try add(
                StateChange(
                    tests: tests.all, extensionDates: extensionDates.all, received: received, receipts: receipts.all))
        }
    }

    private static func withoutItems(_ customer: Customer) -> Customer {
        var copy = customer
        copy.subscriber = customer.subscriber.withoutItems
        return copy
    }

    private func sales(of id: String, since earlier: Customer?) -> [StateChange.Sale] {
        guard let subscriber = customers[id]?.subscriber else { return [] }
        return subscriber.items(changedSince: earlier?.subscriber).map {
            StateChange.Sale(customer: id, item: $0, record: subscriber[$0])
        }
    }

    private func letter(_ index: Int) -> StateChange.Letter {
        StateChange.Letter(index: index, notification: posts[index].notification, place: posts[index].environment)
    }

    private func way(_ index: Int) -> StateChange.Way {
        StateChange.Way(index: index, attempts: posts[index].attempts, next: posts[index].next)
    }

    // MARK: - Reading

    private func take(_ change: StateChange, _ path: String) throws {
        let misfit = StateFile.Fault(description: "\(path) does not fit together; name another file with --state")
        if let standing = change.standing { written.standing = standing }
        for var customer in change.customers ?? [] {
            if let former = written.customers[customer.id] {
                guard customer.subscriber.takeItems(of: former.subscriber) else { throw misfit }
            }
            written.customers[customer.id] = customer
        }
        for sale in change.sales ?? [] {
            guard written.customers[sale.customer]?.subscriber.putBack(sale.record, as: sale.item) == true else {
                throw misfit
            }
        }
        for letter in change.letters ?? [] {
            guard letter.index == posts.count else { throw misfit }
            posts.append(ListedPost(notification: letter.notification, environment: letter.place))
        }
        for way in change.ways ?? [] {
            guard posts.indices.contains(way.index) else { throw misfit }
            posts[way.index].attempts = way.attempts
            posts[way.index].next = way.next
        }
        for (token, index) in change.tests ?? [:] {
            guard posts.indices.contains(index) else { throw misfit }
            tests[token] = index
        }
        for (original, dates) in change.extensionDates ?? [:] { extensionDates[original] = dates }
        for (digest, customer) in change.receipts ?? [:] { receipts[digest] = customer }
        received += change.received ?? []
    }

    private func take(_ standing: StateChange.Standing) {
        random = standing.random
        lanes = standing.lanes
        ahead = standing.ahead
        lived = standing.lived
        speed = standing.speed
        forgeries = standing.forgeries
        provoked = standing.provoked
        massExtensions = standing.massExtensions
        for house in standing.houses { houses[house.app.environment] = house }
    }
}

extension RandomAccessCollection where Index == Int {
    /// Its elements in order, so many at a time.
    fileprivate func portions(of count: Int) -> [SubSequence] {
        stride(from: startIndex, to: endIndex, by: count).map { self[$0..<Swift.min($0 + count, endIndex)] }
    }
}
