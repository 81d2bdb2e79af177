import AppStorePayloads
import Base

extension SimulatedAppStore {
    /// What the file holds already, to find what is new.
    struct Written {
        var standing: StateRow.Standing?
        var customers: [String: Customer] = [:]
        var posts = 0
        var received = 0
    }

    /// What is looked at when rows are written.
    private struct Changes {
        var customers: [String: Customer]
        var posts: [Int]
        var tests: [String: Int]
        var extensionDates: [String: [Milliseconds]]
        var receipts: [String: String]
        var finished: [String: Milliseconds]
    }

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
        take(standing)
        for customer in written.customers.values { enter(customer) }
        if configuration.speed != standing.startedWithSpeed { change(speed: configuration.speed) }
        // Started without --notify it posts nothing more. A later start with --notify does not post those late.
        if configuration.notifyURL == nil {
            for index in posts.indices { posts[index].next = nil }
        }
        try rewrite()
    }

    /// Writes down what changed; it is on the disk when this returns.
    ///
    /// - Throws: `StateFile.Fault`.
    func save() throws {
        let changes = takeChanges()
        // Without a file nothing is remembered twice.
        guard let file else { return }
        var rows: [StateRow] = []
        write(changes) { rows.append($0) }
        guard !rows.isEmpty else { return }
        try file.append(rows)
        if file.isLong { try rewrite() }
    }

    /// Writes the whole shop to the file, and closes the file.
    ///
    /// - Throws: `StateFile.Fault`.
    func close() throws {
        guard file != nil else { return }
        // Whole, also after an append that failed.
        try rewrite()
        file = nil
    }

    // MARK: - Writing

    private var standing: StateRow.Standing {
        StateRow.Standing(
            rootFingerprint: authority.rootFingerprint, random: random, lanes: lanes, ahead: ahead, lived: lived,
            speed: speed, startedWithSpeed: configuration.speed, forgeries: forgeries, provoked: provoked,
            massExtensions: massExtensions, houses: Place.allCases.compactMap { houses[$0] })
    }

    private func takeChanges() -> Changes {
        defer { movedPosts = [] }
        return Changes(
            customers: customers.takeWritten(), posts: movedPosts.sorted(), tests: tests.takeWritten(),
            extensionDates: extensionDates.takeWritten(), receipts: receipts.takeWritten(),
            finished: finished.takeWritten())
    }

    /// The shop as it stands.
    private func rewrite() throws {
        _ = takeChanges()
        let before = written
        written = Written()
        do {
            try file?.rewrite { add in
                try write(
                    Changes(
                        customers: customers.all, posts: Array(posts.indices), tests: tests.all,
                        extensionDates: extensionDates.all, receipts: receipts.all, finished: finished.all), add)
            }
        } catch {
            written = before
            throw error
        }
    }

    /// Writes what of these differs from what the file says.
    private func write(_ changes: Changes, _ write: (StateRow) throws -> Void) rethrows {
        var isNews = false
        func add(_ row: StateRow) throws {
            isNews = true
            try write(row)
        }
        for (id, customer) in changes.customers.sorted(by: { $0.key < $1.key }) {
            let former = written.customers[id]
            guard customer != former else { continue }
            var copy = customer
            copy.subscriber = customer.subscriber.withoutItems
            try add(StateRow(customer: copy))
            for item in customer.subscriber.items(changedSince: former?.subscriber) {
                try add(StateRow(sale: .init(customer: id, item: item, record: customer.subscriber[item])))
            }
            written.customers[id] = customer
        }
        for index in changes.posts {
            let post = posts[index]
            try add(
                StateRow(
                    post: .init(
                        index: index, notification: index < written.posts ? nil : post.notification,
                        place: post.environment, attempts: post.attempts, next: post.next)))
        }
        written.posts = posts.count
        // What names posts comes after them.
        if !changes.tests.isEmpty { try add(StateRow(tests: changes.tests)) }
        if !changes.extensionDates.isEmpty { try add(StateRow(extensionDates: changes.extensionDates)) }
        if written.received < received.count {
            try add(StateRow(received: received[written.received...].map(\.text)))
        }
        written.received = received.count
        if !changes.receipts.isEmpty { try add(StateRow(receipts: changes.receipts)) }
        if !changes.finished.isEmpty { try add(StateRow(finished: changes.finished)) }
        // A later `lived` alone is no reason to write a row.
        var next = standing
        next.lived = written.standing?.lived
        guard isNews || next != written.standing else { return }
        written.standing = standing
        try add(StateRow(standing: standing))
    }

    // MARK: - Reading

    private func take(_ row: StateRow, _ path: String) throws {
        let misfit = StateFile.Fault(description: "\(path) does not fit together; name another file with --state")
        if let standing = row.standing { written.standing = standing }
        if var customer = row.customer {
            if let former = written.customers[customer.id] {
                guard customer.subscriber.takeItems(of: former.subscriber) else { throw misfit }
            }
            written.customers[customer.id] = customer
        }
        if let sale = row.sale {
            guard written.customers[sale.customer]?.subscriber.putBack(sale.record, as: sale.item) == true else {
                throw misfit
            }
        }
        if let post = row.post {
            if let notification = post.notification {
                guard post.index == posts.count else { throw misfit }
                posts.append(ListedPost(notification: notification, environment: post.place))
            }
            guard posts.indices.contains(post.index) else { throw misfit }
            (posts[post.index].attempts, posts[post.index].next) = (post.attempts, post.next)
        }
        for (token, index) in row.tests ?? [:] {
            guard posts.indices.contains(index) else { throw misfit }
            tests[token] = index
        }
        for (original, dates) in row.extensionDates ?? [:] { extensionDates[original] = dates }
        for (digest, customer) in row.receipts ?? [:] { receipts[digest] = customer }
        for (transaction, standing) in row.finished ?? [:] { finished[transaction] = standing }
        for text in row.received ?? [] {
            guard let document = try? JSONDocument(Array(text.utf8)) else { throw misfit }
            received.append(JSONValue(document.root))
        }
    }

    private func take(_ standing: StateRow.Standing) {
        random = standing.random
        lanes = standing.lanes
        ahead = standing.ahead
        lived = standing.lived
        speed = standing.speed
        forgeries = standing.forgeries
        provoked = standing.provoked
        massExtensions = standing.massExtensions
        for house in standing.houses {
            houses[house.app.environment] = house
            houses[house.app.environment]?.signsAtOnce = true
        }
    }
}
