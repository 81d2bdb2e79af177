/// How a stand-in for Apple's servers is set up.
public struct StandInConfiguration: Sendable {
    /// How fast customers live.
    public enum Speed: Sendable, Hashable, Codable {
        /// So many times faster than in life; 1 is life.
        case times(Int64)
        /// As in Apple's Sandbox at its usual rate: 3 days take 2 minutes, a week 3, a month 5, two months 10, three months 15, half a year
        /// 30, a year an hour (App Store Connect Help, "Manage Sandbox Apple Account settings").
        case sandbox

        /// A speed as people write it: `sandbox`, or a whole number from 1 to 1,000,000; nil for anything else.
        public init?(_ text: String) {
            if text == "sandbox" {
                self = .sandbox
            } else if let factor = Int64(text), (1...1_000_000).contains(factor) {
                self = .times(factor)
            } else {
                return nil
            }
        }

        /// The factor for everything that is no period.
        var pace: Int64 {
            switch self {
            case .times(let factor): max(1, factor)
            // A month of 30 days in 5 minutes.
            case .sandbox: 8640
            }
        }

        /// The length of a period or an offer from which ``pace`` makes what it takes. Apple's Sandbox does not shorten evenly.
        func fit(_ length: Milliseconds) -> Milliseconds {
            guard self == .sandbox else { return length }
            return switch length {
            case .days(3): .days(12)
            case .days(7): .days(18)
            case .days(365): .days(360)
            default: length
            }
        }
    }

    /// The app that is sold, in either environment.
    public var app: SimulatedApp
    /// Where notifications are posted; nowhere if nil.
    public var notifyURL: String?
    /// How fast customers live.
    public var speed: Speed
    /// How many simulated customers there are, in Sandbox.
    public var customers: Int
    /// How many percent of the posts are lost on the way.
    public var lossPercent: Double
    /// How many percent of the charges fail.
    public var failurePercent: Double
    /// How many percent of the paid periods a refund is asked for.
    public var refundPercent: Double
    /// Whether simulated customers do everything that the store knows, each about as often; the two percentages above do not
    /// count then.
    public var hasEveryVerb = false
    /// What simulated customers plan happens at multiples of this, in milliseconds; 0 for any instant.
    public var step: Int64 = 0
    /// What decides everything that is left to chance: the same seed, the same identifiers.
    public var seed: UInt64
    /// How many days the store's clock is behind the machine's at the start: so far it can be put ahead, and nothing is signed
    /// in the future.
    public var daysBehind: Int64
    /// The file that keeps the shop from one start to the next; nil to keep nothing.
    /// - Its content overrides `seed` and `daysBehind`, and `speed` if that is what it was at the last start.
    /// - `lossPercent` is taken from here at each start: a client that raised it for a while and was killed leaves no
    ///   shop that loses every post.
    public var stateFile: String?

    /// The identifiers of all that is sold.
    public static var products: [String] { Catalogue.products.map(\.id) }

    /// The names of the offers that a purchase of a subscription may take.
    public static var offers: [String] { Catalogue.offers }

    /// The members of a purchase (`POST /stand-in/purchases`), those with a question mark may be left out.
    public static var purchase: String { ControlPath.all.first { $0.name == "purchases" }?.usage ?? "" }

    /// A seed that no other shop has: what it sells is never taken for what another one sold. JSON can say it, for a
    /// person who wants the same shop again.
    public static func anySeed() -> UInt64 { .random(in: 1 << 32..<1 << 53) }

    /// Whether a seed is one of ``anySeed()``'s. People choose smaller ones.
    static func isChance(_ seed: UInt64) -> Bool { seed >= 1 << 32 }

    /// A set-up.
    public init(
        app: SimulatedApp = .example, notifyURL: String? = nil, speed: Speed = .times(1), customers: Int = 0,
        lossPercent: Double = 0, failurePercent: Double = 8, refundPercent: Double = 3, seed: UInt64 = 1,
        daysBehind: Int64 = 0, stateFile: String? = nil
    ) {
        self.app = app
        self.notifyURL = notifyURL
        self.speed = speed
        self.customers = customers
        self.lossPercent = lossPercent
        self.failurePercent = failurePercent
        self.refundPercent = refundPercent
        self.seed = seed
        self.daysBehind = daysBehind
        self.stateFile = stateFile
    }
}
