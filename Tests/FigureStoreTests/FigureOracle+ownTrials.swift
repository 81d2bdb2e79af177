import FigureStore
import Figures
import OrderSupport

extension FigureOracle {
    /// The measures of the app's own trials, with commas between them.
    static let ownTrialMeasures = "'own_trial', 'own_trial_converted', 'own_trial_lapsed', 'own_trial_refunded'"

    /// Writes the first payment of each account in Production as the table `oracle.first_payments`, behind `oracle.sold`. Whose a purchase is says
    /// Apple alone: no account proves one, and none is moved.
    static let firstPayments = """
        drop table if exists oracle.first_payments;
        create table oracle.first_payments as
        with owned as (
            select bundle_id, original_transaction_id as line, min(app_account_token::text)::uuid as token
              from storehook.purchase_facts
             where app_account_token is not null and environment = 'Production'
             group by bundle_id, original_transaction_id
            having count(distinct app_account_token) = 1
        )
        select distinct on (o.token) o.token, s.at, s.transaction_id, s.share is distinct from 0 as is_given_back
          from owned o join oracle.sold s using (bundle_id, line)
         where s.environment = 'Production' and not s.is_trial and s.amount is distinct from 0
         order by o.token, s.at, s.item;

        """

    /// A query: the rows of the app's own trials, as the table `oracle.figure_rows` has them. The input says when a trial began and ended, and
    /// its app. A trial that names no app is the first one's: only that one has subscriptions in the catalog.
    static func ownTrialRows(_ zone: String) -> String {
        """
        select 'Production', coalesce(w.bundle_id, '\(Shop.app)'), m.measure, w.started_at, w.product_id, null, null, null,
               case when m.measure in ('own_trial_converted', 'own_trial_refunded') then f.transaction_id end, null, null,
               (w.started_at at time zone '\(zone)')::date
          from storehook.trials w
          left join oracle.first_payments f
            on f.token = w.token and f.at >= w.started_at and extract(epoch from f.at - w.ends_at) <= 60 * 86400
         cross join lateral (
            select 'own_trial' as measure
            union all
            select case when f.token is not null then 'own_trial_converted'
                        when extract(epoch from now() - w.ends_at) > 60 * 86400 then 'own_trial_lapsed' end
            union all
            select 'own_trial_refunded' where f.is_given_back) m
         where m.measure is not null
        """
    }
}
