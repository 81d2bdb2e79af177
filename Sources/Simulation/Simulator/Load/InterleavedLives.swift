/// Many lives merged into one endless stream, in the order of the outer signed dates.
struct InterleavedLives: Sendable {
    private let seed: UInt64
    private let subscribers: Int
    private let app: SimulatedApp
    private let pace: Int64
    private let origin: Milliseconds

    /// The lives that have begun.
    private var lives: [StagedLife] = []
    /// A binary heap of them by the date of their next notification. Entries are small, for they are moved about a lot.
    private var heap: [(date: Milliseconds, life: Int)] = []

    init(seed: UInt64, subscribers: Int, app: SimulatedApp, pace: Int64, origin: Milliseconds) {
        self.seed = seed
        self.subscribers = max(1, subscribers)
        self.app = app
        self.pace = pace
        self.origin = origin
        lives.reserveCapacity(self.subscribers)
        heap.reserveCapacity(self.subscribers)
    }

    /// The next notification of all lives together.
    mutating func next() -> UnsignedNotification {
        while true {
            // A life that has not begun by then cannot be the next to speak.
            while lives.count < subscribers, heap.isEmpty || heap[0].date >= birth(lives.count) { begin() }
            let notification = lives[heap[0].life].takeNext()
            heap[0].date = lives[heap[0].life].nextSignedDate
            siftDown()
            if let notification { return notification }
        }
    }

    /// Customers arrive evenly over sixty days.
    private func birth(_ number: Int) -> Milliseconds {
        origin + Milliseconds.days(60) / pace * Int64(number) / Int64(subscribers)
    }

    private mutating func begin() {
        let number = lives.count
        let life = StagedLife(app: app, number: number, seed: seed, pace: pace, birth: birth(number))
        heap.append((life.nextSignedDate, number))
        lives.append(life)
        var child = heap.count - 1
        while child > 0, heap[child].date < heap[(child - 1) / 2].date {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].date < heap[least].date {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
